/** What would move a cursor, ring or recolour: somebody else's text must not steer this terminal. Tabs and line ends may stay. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export const harmless = (text: string): string => text.replace(CONTROLS, '\uFFFD');

/** Writes people's and assistants' words: as they are into a file or pipe, harmless on a terminal. */
export function print(text: string): void {
  process.stdout.write(process.stdout.isTTY ? harmless(text) : text);
}

/** Tells the person at the terminal something beside the output. */
export function note(sentence: string): void {
  process.stderr.write(`turnstream: ${harmless(sentence)}\n`);
}

/** `turnstream tail x | head`: whoever read the output has seen enough. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
