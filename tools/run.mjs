// Runs other programs from the root of the repository, and ends with them when the user says so.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program to its end. With `quiet` its output is kept back and returned instead of shown.
 * A signal to this process is passed on, and ends this process as soon as the program has ended.
 * @returns whether it succeeded, how it ended in words, and its output
 */
export async function run(command, args, { quiet = false, ...options } = {}) {
  const stdio = quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit';
  const child = spawn(command, args, { cwd: root, stdio, ...options });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));

  let received;
  const forward = (signal) => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...end) => resolve(end));
  });
  for (const each of signals) process.off(each, forward);
  if (received) process.exit(128 + constants.signals[received]);

  return { ok: code === 0, end: signal ?? `exit code ${code}`, output: Buffer.concat(output).toString() };
}

export const node = (args, options) => run(process.execPath, args, options);

export function npm(args, options) {
  // Under `npm run` the same npm, and a script, which spares Windows the shell that its npm.cmd needs.
  const script = process.env.npm_execpath;
  return script?.endsWith('.js')
    ? node([script, ...args], options)
    : run('npm', args, { shell: process.platform === 'win32', ...options });
}
