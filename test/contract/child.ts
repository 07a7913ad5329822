import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child {
  /** What it has written so far. */
  output(): string;
  /** Resolves when its output fulfils this; rejects with what it said where it ends before. */
  until(fulfilled: (output: string) => boolean): Promise<void>;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Runs a TypeScript file of this folder in a process of its own. */
export function startChild(file: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const closed = once(child, 'close');
  return {
    output: () => output,
    until: (fulfilled) =>
      new Promise((resolve, reject) => {
        const check = () => fulfilled(output) && resolve();
        child.stdout.on('data', check);
        void closed.then(() => reject(new Error(`The child ended: ${errors}`)));
        check();
      }),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
