/** Longer text would hold up the page while it is laid out. */
const MAX_LENGTH = 200_000;
/** Quotes and lists in each other; the time that they take grows with its square. */
const MAX_DEPTH = 32;
const MAX_INDENT = 200;
/** Brackets and tildes: each may begin or end something, and is looked for from each other one. */
const MAX_PAIRED = 4_000;
/** Backticks in runs of so many lengths: the end of each is looked for through all of the text. */
const MAX_TICK_LENGTHS = 40;

/** Whether Markdown can be laid out in a time that a person does not notice; else it is better shown as it stands. */
export function isBearable(text: string): boolean {
  return text.length <= MAX_LENGTH && !hasManyPaired(text) && !hasManyTicks(text) && !isDeep(text);
}

function hasManyPaired(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const letter = text[index];
    if ((letter === '[' || letter === ']' || letter === '~') && ++count > MAX_PAIRED) return true;
  }
  return false;
}

function hasManyTicks(text: string): boolean {
  const lengths = new Set<number>();
  for (const [run] of text.matchAll(/`+/g)) lengths.add(run.length);
  return lengths.size > MAX_TICK_LENGTHS;
}

function isDeep(text: string): boolean {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const stop = end === -1 ? text.length : end;
    // What is deeper stands at the beginning of its line, a few letters for each level.
    if (isDeepLine(text.slice(start, Math.min(stop, start + 2_000)))) return true;
    start = stop + 1;
  }
  return false;
}

/** Marks of quotes and lists, and the space before each. */
const MARK = /([ \t]*)(>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))?/y;

function isDeepLine(line: string): boolean {
  let indent = 0;
  MARK.lastIndex = 0;
  for (let depth = 0; ; depth++) {
    const [, space = '', mark] = MARK.exec(line) ?? [];
    indent += space.length;
    if (depth > MAX_DEPTH || indent > MAX_INDENT) return true;
    if (mark === undefined) return false;
  }
}
