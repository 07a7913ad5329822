/**
 * The id of the chat that a framework's own names stand for. The names may hold any characters and be of any length; the
 * same ones give the same id, others another one: SHA-256 (FIPS 180-4) of their JSON, which no separator can confuse.
 */
export async function chatIdOf(room: string, ...names: readonly (string | null)[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([room, ...names]));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `${room}-${base64Url(hash)}`;
}

/** RFC 4648, section 5, without padding: 43 characters for 32 bytes. */
const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
