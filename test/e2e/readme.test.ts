import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callsTools, ModelServer, says } from '../harness/model-server.js';
import { blocksIn, pageAt, ROOT } from '../harness/page-blocks.js';
import { startServer, temporaryDirectory, type ServerOptions } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { Shell } from '../harness/shell.js';

const ADDRESS = 'http://127.0.0.1:3000';

/** The code blocks of the README that say ```` ```LANGUAGE run=NAME ````, by name. */
const BLOCKS = blocksIn(pageAt('README.md'), 'run');

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Names of the blocks that a test has run. */
const tried = new Set<string>(hasCurl ? [] : ['curl-follow', 'curl-start', 'curl-resume']);

function block(name: string): string {
  tried.add(name);
  const text = BLOCKS.get(name);
  if (text === undefined) throw new Error(`the README has no block ${name}`);
  return text;
}

/** A folder as it would lie beside the clone: the package installed, the programs of the README saved. */
function folder(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(ROOT, join(directory, 'node_modules', 'turnstream'), 'dir');
  for (const name of ['zod', '@ai-sdk'])
    symlinkSync(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name), 'dir');
  for (const name of ['client.mjs', 'agent.mjs', 'dice.mjs', 'greeter.mjs', 'embed.mjs'])
    writeFileSync(join(directory, name), block(name));
  return directory;
}

async function setUp(options: ServerOptions = {}) {
  const { url } = await startServer(options);
  // npx links the clone into its cache: not into that of whoever runs the tests.
  const env = { TURNSTREAM_URL: url, npm_config_cache: temporaryDirectory(), npm_config_update_notifier: 'false' };
  return {
    /** Runs a shell block in the clone, against this server instead of the default one. */
    run: (name: string) => new Shell(block(name).replaceAll(ADDRESS, url), { cwd: ROOT, env }),
    node: (file: string, cwd = folder()) => new Shell(`exec node ${file}`, { cwd, env }),
    env,
  };
}

describe('the README’s snippets run', () => {
  test('say and tail: the answer, and the chat as it goes on', async () => {
    const { run } = await setUp();
    const said = run('say');
    expect(await said.ended()).toBe(0);
    expect(said.output).toBe('Is there anybody out there?\n');
    const tail = run('tail');
    await tail.shows('echo: Is there anybody out there?\n');
    expect(await run('say').ended()).toBe(0);
    await tail.shows(/completed\n/);
    tail.signal('SIGINT');
    await tail.ended();
  });

  test.skipIf(!hasCurl)('the same over HTTP: a chat, its events, a turn', async () => {
    const { run } = await setUp();
    const following = run('curl-follow');
    await following.shows('event: snapshot');
    const started = run('curl-start');
    expect(await started.ended()).toBe(0);
    expect(started.output).toContain('"duplicate":false');
    await following.shows('"type":"turn.ended"');
    const texts = [...following.output.matchAll(/^data: (\{.*"type":"message.appended".*\})$/gm)];
    expect(texts.map((match) => (JSON.parse(match[1] ?? '') as { text: string }).text).join('')).toBe(
      'Hello over HTTP',
    );
  });

  test.skipIf(!hasCurl)(
    'LIF-2, TRN-9: a server that is killed in the middle of an answer, and the resume',
    async () => {
      const server = await new ServerProcess().start();
      const shell = (name: string) => new Shell(block(name).replaceAll(ADDRESS, server.url), { cwd: ROOT, env: {} });
      const following = shell('curl-follow');
      await following.shows('event: snapshot');
      const started = await fetch(`${server.url}/v1/chats/curl/turns`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'one two three', metadata: { delayMs: 200 } }),
      });
      expect(started.status).toBe(202);
      await following.shows('message.appended');
      await server.kill();
      await server.start();
      const turn = async () =>
        ((await (await fetch(`${server.url}/v1/chats/curl/turns`)).json()) as { turns: Record<string, unknown>[] })
          .turns[0];
      expect(await turn()).toMatchObject({ status: 'interrupted', stopReason: 'crashed' });
      const resumed = shell('curl-resume');
      expect(await resumed.ended()).toBe(0);
      expect(resumed.output).toContain('"attempt":2');
      await expect.poll(turn, { timeout: 10_000 }).toMatchObject({ status: 'completed', attempt: 2 });
    },
  );

  test('a client sees the answer grow', async () => {
    const { node } = await setUp();
    const client = node('client.mjs');
    expect(await client.ended()).toBe(0);
    const lines = client.output.trim().split('\n');
    expect(lines.at(-1)).toBe('Hello from a client');
    expect(lines.length).toBeGreaterThan(1);
  });

  test('a remote agent answers', async () => {
    const { node, run } = await setUp();
    const agent = node('agent.mjs');
    const asked = run('ask-agent');
    expect(await asked.ended()).toBe(0);
    expect(asked.output).toBe('WHY SO QUIET?\n');
    agent.signal('SIGINT');
    expect(await agent.ended()).toBe(0);
  });

  /** Starts a turn, and waits until its chat holds this. */
  async function answers(url: string, assistantId: string, text: string): Promise<void> {
    const post = await fetch(`${url}/v1/chats/x/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user-id': 'ann' },
      body: JSON.stringify({ input: 'hi', createChat: true, assistantId }),
    });
    expect(post.status).toBe(202);
    const history = async () => (await fetch(`${url}/v1/chats/x/messages`, { headers: { 'x-user-id': 'ann' } })).text();
    await expect.poll(history, { timeout: 10_000 }).toContain(text);
  }

  test('an assistant of one’s own inside the server', async () => {
    const { url } = await new ServerProcess({ ASSISTANTS: join(folder(), 'greeter.mjs') }).start();
    await answers(url, 'greeter', 'Welcome, ann. You said: hi');
  });

  test('an assistant with a model and a tool', async () => {
    const model = await ModelServer.start();
    model.answer(callsTools({ id: 'call_1', name: 'roll', args: { sides: 6 } }), says('As the die ', 'fell.'));
    const ASSISTANTS = join(folder(), 'dice.mjs');
    const { url } = await new ServerProcess({ ASSISTANTS, OPENAI_BASE_URL: model.url, MODEL: 'tiny' }).start();
    await answers(url, 'dice', 'As the die fell.');
    expect(JSON.stringify(model.requests[1]?.body.messages)).toMatch(
      /"role":"tool","tool_call_id":"call_1","content":"[1-6]"/,
    );
  });

  test('embedded: it listens, and SIGTERM drains it', async () => {
    const { node } = await setUp();
    const embedded = node('embed.mjs');
    await embedded.shows(/chats at http:\/\/127\.0\.0\.1:\d+/);
    const [url = ''] = /http:\S+/.exec(embedded.output) ?? [];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    embedded.signal('SIGTERM');
    expect(await embedded.ended()).toBe(0);
  });

  test('every block that is marked was tried', () => {
    expect([...BLOCKS.keys()].sort()).toEqual([...tried].sort());
  });
});
