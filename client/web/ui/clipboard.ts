import { notify } from './notices.js';

/** Copies a text, and says so where it cannot. @param done called once it is copied */
export function copy(text: string, done: () => void): void {
  // Browsers have no clipboard for pages over plain http.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (!clipboard) return notify('This browser lets only https pages copy.');
  clipboard.writeText(text).then(done, () => notify('The browser did not let it be copied.'));
}
