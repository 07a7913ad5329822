/** Without the password that an address may hold, also one with characters that would have had to be encoded. */
export const shownAddress = (url: string): string =>
  url.replace(/^(\w+:\/\/[^:@/?]*):.*@/s, '$1:***@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1***');

/** The error that the others were made of. */
export function rootOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
