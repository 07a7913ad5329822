// npm run nodes [-- <how many>]: what docker-compose.yml starts, without containers. Nodes of this clone (2, unless told)
// behind one address of loopback, PORT (3000; 0: any), each on a port of its own after that one, which share PostgreSQL and
// Redis: those that run on this machine or, for as long as this runs, ones of its own. A chat may be served by any of them to
// anybody. DATABASE_URL and REDIS_URL, and any other setting, are taken from the environment where they are set.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBalancer } from './balancer.mjs';
import { freePort } from './free-port.mjs';
import { prepareOrExit } from './prepare.mjs';
import { root } from './run.mjs';
import { bringServices } from './services.mjs';

const [count = '2'] = process.argv.slice(2);
if (!/^[1-9]\d?$/.test(count)) {
  console.error('usage: npm run nodes [-- <how many, 1 to 99>]');
  process.exit(2);
}

await prepareOrExit();
const { DATABASE_URL, REDIS_URL, PORT = '3000' } = process.env;
const missing = DATABASE_URL && REDIS_URL ? [] : await bringServices();
if (missing.length > 0) {
  console.error(`turnstream: several nodes need ${missing.join(' and ')}`);
  process.exit(1);
}

/** A database beside the one that the service is reached by; the first node makes it. */
function ownDatabase(url) {
  const address = new URL(url);
  address.pathname = '/turnstream_nodes';
  return address.href;
}

const shared = {
  DATABASE_URL: DATABASE_URL || ownDatabase(process.env.TEST_POSTGRES_URL),
  REDIS_URL: REDIS_URL || process.env.TEST_REDIS_URL,
};
const folder = mkdtempSync(join(tmpdir(), 'turnstream-nodes-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const ports = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) => (PORT === '0' ? freePort() : Number(PORT) + 1 + index)),
);
const balancer = createBalancer(ports.map((port) => `http://127.0.0.1:${port}`));
try {
  await once(balancer.listen(Number(PORT), '127.0.0.1'), 'listening');
} catch (error) {
  console.error(`turnstream: ${error.code === 'EADDRINUSE' ? `port ${PORT} is taken; set PORT` : error.message}`);
  process.exit(1);
}
const nodes = ports.map((port, index) => {
  const env = { ...process.env, ...shared, PORT: String(port), DATA_DIR: join(folder, `node-${index + 1}`) };
  const program = [join(root, 'dist', 'server', 'main.js'), 'serve'];
  // Groups of their own: what a terminal tells all of its programs they are told once, by this one.
  return spawn(process.execPath, program, { stdio: 'inherit', detached: true, env });
});
console.log(`turnstream: all of them are behind http://127.0.0.1:${balancer.address().port}`);
// Each drains, and this ends with the last of them.
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    balancer.close();
    nodes.forEach((node) => node.kill(signal));
  });
const codes = await Promise.all(nodes.map((node) => new Promise((resolve) => node.once('exit', resolve))));
process.exit(codes.every((code) => code === 0) ? 0 : 1);
