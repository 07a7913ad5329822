import { createHash } from 'node:crypto';

/** An id from names of any characters, always the same for the same ones: what was imported once is found again. */
export function importedId(...names: readonly (string | null)[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['yao', ...names]))
    .digest('base64url');
  return `yao-${digest}`;
}
