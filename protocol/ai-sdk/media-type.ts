/** Endings of names whose type a page shows in another way than as a link. */
const BY_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  avif: 'image/avif',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
};

/** The media type that a URL tells of itself, or that a file name does; null where neither tells. */
export function mediaTypeOf(...names: readonly unknown[]): string | null {
  for (const name of names) {
    if (typeof name !== 'string') continue;
    const inline = /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(name)?.[1];
    if (inline !== undefined) return inline;
    const ending = /\.(\w{1,5})(?:[?#]|$)/.exec(name.slice(-2000))?.[1];
    const known = ending === undefined ? undefined : BY_ENDING[ending.toLowerCase()];
    if (known !== undefined) return known;
  }
  return null;
}

export const isMediaType = (text: unknown): text is string =>
  typeof text === 'string' && /^[\w.+-]+\/([\w.+-]+|\*)$/.test(text);

/** What a page may put into a link or an image: never a script. A path of the page's own site is none either. */
export const isSafeUrl = (url: unknown): url is string =>
  typeof url === 'string' && /^(https?:|blob:|data:|\.{0,2}\/)/i.test(url);
