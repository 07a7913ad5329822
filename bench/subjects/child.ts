/** The inside of a process under test: it answers the bench's commands over IPC. */

export interface Call {
  readonly id: number;
  readonly command: string;
  readonly args: unknown;
}

export type Answer =
  | { readonly port: number }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** Arguments come from the bench itself, which calls commands by name and knows their forms. */
export type Commands = Readonly<Record<string, (args: never) => unknown>>;

const collect = (globalThis as { gc?: () => void }).gc;

/** What every subject can say of itself. */
const common: Commands = {
  /** Microseconds of processor time of all threads, kernel included. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Memory after the garbage is gone. */
  memory: async () => {
    for (let round = 0; round < 3; round++) {
      collect?.();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heapUsed };
  },
};

/** Reports the port and answers until the bench is gone; `close` runs before the process ends. */
export function answerCommands(port: number, own: Commands, close: () => void = () => undefined): void {
  const commands: Commands = { ...common, ...own };
  const say = (answer: Answer): void => void process.send?.(answer);
  process.on('message', ({ id, command, args }: Call) => {
    const run = async (): Promise<unknown> => commands[command]?.(args as never);
    run().then(
      (result) => say({ id, result: result ?? null }),
      (error: unknown) => say({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => {
    close();
    process.exit(0);
  });
  say({ port });
}

/** What the bench asked this process to be. */
export const subjectOptions = <T>(): T => JSON.parse(process.argv[2] ?? '{}') as T;
