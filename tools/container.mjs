// Services of docker-compose.yml, each in a container for a while: on a free port of loopback, with volumes of their own.
import { spawnSync } from 'node:child_process';
import { root, run } from './run.mjs';

const PROJECT = `turnstream-test-${process.pid}`;
const compose = (...args) => ['compose', '--project-name', PROJECT, '--profile', '*', ...args];

const quiet = { quiet: true };

/** Whether a docker engine answers and the file has the service. */
export async function canStartContainer(service) {
  try {
    if (!(await run('docker', ['info'], quiet)).ok) return false;
    const { ok, output } = await run('docker', compose('config', '--services'), quiet);
    return ok && output.split(/\s/).includes(service);
  } catch {
    // No docker.
    return false;
  }
}

/** @returns host and port where `port` of the container is reached; the container ends with this process */
export async function startContainer(service, port) {
  process.once('exit', () => spawnSync('docker', compose('down', '--volumes'), { cwd: root, stdio: 'ignore' }));
  const name = `${PROJECT}-${service}`;
  const publish = `127.0.0.1::${port}`;
  const args = compose('run', '--detach', '--no-deps', '--name', name, '--publish', publish, service);
  const started = await run('docker', args, quiet);
  if (!started.ok) throw new Error(started.output);
  const { output } = await run('docker', ['port', name, String(port)], quiet);
  return output.trim().split('\n')[0];
}
