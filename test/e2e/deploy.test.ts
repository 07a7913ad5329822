import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../server/config.js';
import { freePort } from '../../tools/free-port.mjs';
import { Person } from '../harness/person.js';
import { temporaryDirectory } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { Shell } from '../harness/shell.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { bearerOf, requestAs } from './request-as.js';
import { readEvents } from './sse-reader.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const works = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

const COMPOSE = [['docker', 'compose'], ['docker-compose']].find(([command = '', ...args]) =>
  works(command, ...args, 'version'),
);

describe.skipIf(!COMPOSE)('docker-compose.yml', () => {
  /** Of a copy, beside which there is no .env file. */
  function compose(env: Record<string, string>) {
    const directory = temporaryDirectory();
    copyFileSync(join(root, 'docker-compose.yml'), join(directory, 'docker-compose.yml'));
    const [command = '', ...args] = COMPOSE ?? [];
    const { status, stdout, stderr } = spawnSync(command, [...args, 'config'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }

  test('without a secret nothing starts, and it is said what to set', () => {
    const { status, stdout, stderr } = compose({});
    expect([status === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain('set AUTH_JWT_SECRET to at least 32 random bytes');
  });

  test('with one it is whole, and its settings are ones that a server takes', () => {
    const { status, stdout, stderr } = compose({ ...JWT_ENV, POSTGRES_PASSWORD: 's3' });
    expect([status, stderr]).toEqual([0, '']);
    const environment = /\n {2}node-1:\n(?:.*\n)*? {4}environment:\n((?: {6}.*\n)+)/.exec(stdout)?.[1] ?? '';
    const settings = Object.fromEntries(
      [...environment.matchAll(/^ {6}(\w+): (.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        /^(null|""|)$/.test(value) ? '' : value.replace(/^(["'])(.*)\1$/, '$2'),
      ]),
    );
    expect(readConfig({ ...settings, HOST: '0.0.0.0' })).toMatchObject({
      authMode: 'jwt',
      authJwtSecret: JWT_ENV.AUTH_JWT_SECRET,
      databaseUrl: 'postgresql://turnstream:s3@postgres:5432/turnstream',
      redisUrl: 'redis://redis:6379',
      trustProxy: ['uniquelocal'],
    });
  });
});

describe('Dockerfile', () => {
  const file = readFileSync(join(root, 'Dockerfile'), 'utf8');
  /** The words of an instruction in the last stage. */
  const wordsOf = (instruction: RegExp): string[] =>
    JSON.parse(new RegExp(`${instruction.source}(\\[.+\\])$`, 'm').exec(file)?.[1] ?? '') as string[];

  test('what it starts is a server, which refuses to be open to everybody', () => {
    const [command = '', ...args] = [...wordsOf(/^ENTRYPOINT /), ...wordsOf(/^CMD /)];
    const env = { PATH: process.env['PATH'], HOST: '0.0.0.0', PORT: '0', DATA_DIR: temporaryDirectory() };
    const { status, stderr } = spawnSync(command, args, { cwd: root, env, encoding: 'utf8' });
    expect(file).toMatch(/^ENV .*HOST=0\.0\.0\.0/m);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^turnstream: HOST: with AUTH_MODE=none .+ ALLOW_INSECURE=1\n$/);
  });

  test('its health check tells a server that answers from one that is gone', async () => {
    const [command = '', ...args] = wordsOf(/^ {2}CMD /);
    const server = await new ServerProcess().start();
    const health = () =>
      spawnSync(command, args, { env: { PATH: process.env['PATH'], PORT: new URL(server.url).port } }).status;
    expect(health()).toBe(0);
    await server.kill();
    expect(health()).toBe(1);
  });
});

describe.skipIf(!works('caddy', 'version'))('deploy/Caddyfile', () => {
  async function proxied() {
    const server = await new ServerProcess({ ...JWT_ENV, TRUST_PROXY: 'loopback', COALESCE_MS: '0' }).start();
    const port = await freePort();
    const home = temporaryDirectory();
    const caddy = new Shell(`exec caddy run --adapter caddyfile --config '${join(root, 'deploy', 'Caddyfile')}'`, {
      cwd: home,
      env: {
        SITE: `:${port}`,
        SERVERS: new URL(server.url).host,
        HOME: home,
        XDG_DATA_HOME: home,
        XDG_CONFIG_HOME: home,
      },
    });
    const url = `http://127.0.0.1:${port}`;
    await until(
      () =>
        fetch(`${url}/healthz`)
          .then(({ ok }) => ok)
          .catch(() => false),
      'the proxy',
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; it said: ${caddy.output}`);
    });
    return { url, server };
  }

  test('WebSockets and event streams pass word by word', async () => {
    const { url } = await proxied();
    const ann = { userId: 'ann' };
    const token = await tokenFor(ann);
    const person = await new Person(url, ann).open({ token });
    const chatId = await person.createChat();
    const chat = await person.follow(chatId);
    using stream = await readEvents(`${url}/v1/chats/${chatId}/events`, bearerOf(token));
    const { turn } = await person.start(chatId, 'word '.repeat(1000), { metadata: { delayMs: 20 } });
    await stream.until(({ events }) => JSON.stringify(events).includes('word'));
    await until(() => chat.text(turn.requestId).length > 20, 'some words');
    expect((await person.turn(turn.requestId)).status).toBe('running');
    await person.do('turn:stop', { requestId: turn.requestId });
    await person.ended(chatId, turn.requestId);
  });

  test('the server sees who connects, whatever they say; what is for who runs it is not shown', async () => {
    const { url, server } = await proxied();
    const ann = { userId: 'ann' };
    const token = await tokenFor(ann);
    const { chat } = (await requestAs(url, ann, 'chat:create', { assistantId: 'echo' }, token)) as {
      chat: { chatId: string };
    };
    await new Promise((resolve) => {
      const headers = { ...bearerOf(token), 'x-forwarded-for': '203.0.113.9' };
      request(
        `${url}/v1/chats/${chat.chatId}`,
        { method: 'DELETE', localAddress: '127.0.0.2', headers },
        resolve,
      ).end();
    });
    await until(() => server.output.includes('chat:delete'), 'the line of the audit log');
    expect(server.output).toMatch(
      /"command":"chat:delete".*"address":"127\.0\.0\.2"|"address":"127\.0\.0\.2".*"command":"chat:delete"/,
    );
    for (const path of ['/metrics', '/readyz']) expect((await fetch(url + path)).status).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('who comes while the server restarts waits for it', async () => {
    const { url, server } = await proxied();
    await server.kill();
    const answer = fetch(`${url}/healthz`);
    await server.start();
    expect((await answer).status).toBe(200);
  });
});
