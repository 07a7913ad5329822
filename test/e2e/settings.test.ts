import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../server/config.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));

/** Runs the built server until it ends by itself. */
async function ended(
  env: Record<string, string>,
  cwd = temporaryDirectory(),
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    cwd,
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

describe('section 10: settings', () => {
  test('a bad one is named in a one-line error, with exit code 2; nothing is served', async () => {
    const { code, stdout, stderr } = await ended({ COMMIT_RETRY_MS: 'soon' });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^turnstream: [^\n]*COMMIT_RETRY_MS[^\n]*\n$/);
  });

  test('a database that is none is named, with what is wrong with it, in one line', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'turnstream.db'), 'this is no database, '.repeat(500));
    const { code, stdout, stderr } = await ended({ DATA_DIR: dataDir });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^turnstream: the database file:[^\n]*turnstream.db cannot be opened: file is not a database\n$/,
    );
  });

  test('a port that is taken is named', async () => {
    const { port } = await startServer();
    const { code, stderr } = await ended({ DATA_DIR: temporaryDirectory(), PORT: String(port), LOG_LEVEL: 'silent' });
    expect([code, stderr]).toEqual([1, `turnstream: port ${port} of 127.0.0.1 is taken; set PORT\n`]);
  });

  test('a bad one in a .env file likewise', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, '.env'), 'MAX_QUEUED_TURNS=-1\n');
    const { code, stderr } = await ended({}, cwd);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^turnstream: [^\n]*MAX_QUEUED_TURNS[^\n]*\n$/);
  });

  test.each([
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['DATABASE_URL', 'mysql://x'],
    ['AUTH_MODE', 'maybe'],
    ['LOG_LEVEL', 'loud'],
    ['COALESCE_MS', '-5'],
    ['MAX_FRAME_BYTES', '0'],
    ['MAX_MESSAGE_BYTES', 'many'],
    ['MAX_TURN_BYTES', '1.5'],
    ['MAX_PAGE_BYTES', ' '],
    ['MAX_QUEUED_TURNS', 'NaN'],
    ['MAX_UNSAVED_BYTES', '-1'],
    ['MAX_TURN_MS', '1e99'],
    ['AGENT_WAIT_MS', 'Infinity'],
    ['AGENT_GRACE_MS', '-1'],
    ['AUTH_GRACE_MS', 'x'],
    ['DRAIN_MS', '10s'],
    ['MAX_OUTBOX_BYTES', '0'],
    ['LOG_MAX_EVENTS', 'x'],
    ['LOG_MAX_BYTES', 'x'],
    ['LOG_TTL_MS', 'x'],
    ['RATE_LIMIT_PER_SECOND', '0'],
    ['MAX_CONNECTIONS_PER_USER', '0'],
    ['ALLOW_POLLING', 'perhaps'],
    ['CORS_ORIGINS', '*'],
    ['HOST', '0.0.0.0'],
  ])('%s=%s is refused by name', async (name, value) => {
    const refusal = await startServer({ env: { [name]: value } }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ConfigError);
    const { message } = refusal as ConfigError;
    expect(message).toContain(name);
    expect(message).not.toContain('\n');
  });

  test('AUTH_MODE=none on all interfaces needs ALLOW_INSECURE=1', async () => {
    await startServer({ env: { HOST: '0.0.0.0', ALLOW_INSECURE: '1' } });
  });

  test('AUTH_MODE=none on all interfaces says at start that everybody may be anybody; on loopback it does not', async () => {
    const here = await new ServerProcess().start();
    await until(() => here.output.includes('every program on this machine may be anyone'), 'the warning');
    expect(here.output).not.toContain('EVERYBODY');
    await here.kill();
    const open = await new ServerProcess({ HOST: '0.0.0.0', ALLOW_INSECURE: '1' }).start();
    await until(
      () => /AUTH_MODE=none on 0\.0\.0\.0: EVERYBODY WHO REACHES THIS SERVER MAY BE ANYBODY/.test(open.output),
      'the warning',
    );
  });

  test('a second server on the same DATA_DIR is refused in one line, and the first goes on', async () => {
    const first = await new ServerProcess().start();
    const { code, stdout, stderr } = await ended({ DATA_DIR: first.dataDir });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^turnstream: [^\n]*in use[^\n]*\n$/);
    const person = await new Person(first.url).open();
    expect(await person.createChat()).toBeTruthy();
    await first.kill();
    await first.start();
  });

  test('a port that is taken is refused in one line', async () => {
    const first = await startServer();
    const { code, stderr } = await ended({ PORT: `${first.port}` });
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('turnstream: ');
  });

  test('an assistant module that ASSISTANTS names is served; one that is not there is refused in one line', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'parrot.mjs');
    writeFileSync(
      path,
      "export default { assistantId: 'parrot', name: 'Parrot', run: async (ctx) => { await ctx.send('squawk'); } };\n",
    );
    const server = await new ServerProcess({ ASSISTANTS: path }).start();
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'parrot' });
    const view = await person.follow(chatId);
    const { turn } = await person.start(chatId, 'hello');
    await person.ended(chatId, turn.requestId);
    expect(view.text(turn.requestId)).toBe('squawk');
    const { code, stderr } = await ended({ ASSISTANTS: join(directory, 'missing.mjs') });
    expect(code).not.toBe(0);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
