// A Redis server for a while: the machine's own program, in a folder that is thrown away.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.mjs';

export const canMakeRedis = () =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'redis-server')));

/** Makes a server that does not run yet. It writes nothing to its disk but when it is told to `SAVE`. */
export async function makeRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'turnstream-redis-'));
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  let child = null;

  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const started = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
      child = started;
      let said = '';
      await new Promise((resolve, reject) => {
        started.stdout.on('data', (chunk) => {
          said += chunk;
          if (said.includes('Ready to accept connections')) resolve();
        });
        started.once('error', reject);
        started.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${said.slice(-500)}`)));
      });
      // It does not keep this process from ending.
      started.unref();
      started.stdout.unref();
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    remove() {
      child?.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
