/** What would move a cursor, ring or recolour: somebody else's text must not steer this terminal. Tabs and line ends may stay. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export const harmless = (text: string): string => text.replace(CONTROLS, '\uFFFD');

/** Where a command writes: the output, and beside it what the person at the terminal is told. */
export class Terminal {
  #isMidLine = false;

  constructor(
    private readonly out: Screen,
    private readonly err: Screen,
  ) {}

  /** Writes people's and assistants' words: as they are into a file or pipe, harmless on a terminal. */
  readonly print = (text: string): void => {
    if (text !== '') this.#isMidLine = !text.endsWith('\n');
    this.out.write(this.out.isTTY ? harmless(text) : text);
  };

  /** Tells something beside the output, on a line of its own where both are seen on one screen. */
  readonly note = (sentence: string): void => {
    const isGlued = this.#isMidLine && this.out.isTTY && this.err.isTTY;
    this.err.write(`${isGlued ? '\n' : ''}turnstream: ${harmless(sentence)}\n`);
    if (isGlued) this.#isMidLine = false;
  };
}

type Screen = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

export const { print, note } = new Terminal(process.stdout, process.stderr);

/** `turnstream tail x | head`: whoever read the output has seen enough. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
