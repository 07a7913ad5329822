import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksIn, pageAt, ROOT } from '../harness/page-blocks.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { Shell } from '../harness/shell.js';
import { JWT_ENV } from '../harness/tokens.js';

const GUIDE = pageAt('docs/remote-agent.md');
const ADDRESS = 'http://127.0.0.1:3000';
const REPORT = 'It is warm in Lisbon, with a light wind from the sea, no cloud in the sky and a calm night to come.';

const PROGRAMS = blocksIn(GUIDE, 'run');
const OUTPUTS = blocksIn(GUIDE, 'output');

/** The page's agent in a project of its own, where the package is installed as npm does from a folder. Gives the folder. */
function project(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(ROOT, join(directory, 'node_modules', 'turnstream'), 'dir');
  // npm makes what it links executable; the clone's own file is left as it is.
  const command = `#!/bin/sh\nexec node ${JSON.stringify(join(ROOT, 'dist', 'server', 'main.js'))} "$@"\n`;
  writeFileSync(join(directory, 'node_modules', '.bin', 'turnstream'), command, { mode: 0o755 });
  writeFileSync(join(directory, 'package.json'), '{}');
  writeFileSync(join(directory, 'agent.mjs'), PROGRAMS.get('agent.mjs') ?? '');
  return directory;
}

/** Runs what the page says, in that project and against that server. */
function reader(url: string) {
  const cwd = project();
  const run = (commands: string, env: Record<string, string> = {}) =>
    new Shell(commands, { cwd, env: { TURNSTREAM_URL: url, npm_config_update_notifier: 'false', ...env } });
  return {
    agent: (env?: Record<string, string>) => run('exec node agent.mjs', env),
    block: (name: string, env?: Record<string, string>) =>
      run((PROGRAMS.get(name) ?? 'false').replaceAll(ADDRESS, url), env),
  };
}

interface Held {
  readonly turns: readonly { readonly status: string; readonly attempt: number }[];
  readonly answers: readonly string[];
}

/** What the chat of the page holds: its turns, newest first, and what was answered, oldest first. */
async function held(url: string): Promise<Held> {
  const read = async (path: string): Promise<unknown> => (await fetch(`${url}/v1/chats/trip/${path}`)).json();
  const { turns } = (await read('turns')) as Held;
  const { messages } = (await read('messages')) as { messages: { role: string; props: { content: string } }[] };
  const answers = messages.filter(({ role }) => role === 'assistant').map(({ props }) => props.content);
  return { turns: turns.map(({ status, attempt }) => ({ status, attempt })), answers };
}

/** Each answer takes its five seconds, as the page's agent waits between words. */
const TELLS_SLOWLY = { timeout: 120_000 };

describe('docs/remote-agent.md', () => {
  test(
    'the agent answers, dies in the middle, and its successor goes on at the step that was cut off',
    TELLS_SLOWLY,
    async () => {
      const { url } = await startServer();
      const { agent, block } = reader(url);

      const first = agent();
      const asked = block('ask');
      expect({ code: await asked.ended(), output: asked.output }).toEqual({ code: 0, output: `${REPORT}\n` });
      expect(first.output).toBe(OUTPUTS.get('first'));

      const again = block('ask');
      await again.shows('It is warm');
      first.signal('SIGQUIT');
      await first.ended();
      const second = agent();
      await expect.poll(() => held(url), { timeout: 20_000 }).toMatchObject({ turns: [{ status: 'interrupted' }, {}] });
      await again.ended();
      const cut = (await held(url)).answers[1] ?? '';
      expect(cut).toContain('It is warm');
      expect(REPORT.startsWith(cut) && cut !== REPORT).toBe(true);

      expect(await block('resume').ended()).toBe(0);
      await expect
        .poll(() => held(url), { timeout: 30_000 })
        .toEqual({
          turns: [
            { status: 'completed', attempt: 2 },
            { status: 'completed', attempt: 1 },
          ],
          answers: [REPORT, REPORT],
        });
      expect(second.output).toBe(OUTPUTS.get('resumed'));
      second.signal('SIGINT');
      expect(await second.ended()).toBe(0);
    },
  );

  test(
    'the token of the page lets the agent serve its assistant, and without it the agent says why not',
    TELLS_SLOWLY,
    async () => {
      const { url } = await startServer({ env: JWT_ENV });
      const { agent, block } = reader(url);
      const refused = agent();
      await refused.shows('the agent was closed: unauthenticated');
      expect(await refused.ended()).toBe(0);

      const printed = block('token', JWT_ENV);
      expect(await printed.ended()).toBe(0);
      const serving = agent({ AGENT_TOKEN: printed.output.trim() });
      const ann = new Shell('exec npx turnstream token ann', { cwd: project(), env: JWT_ENV });
      expect(await ann.ended()).toBe(0);
      const asked = block('ask', { TURNSTREAM_TOKEN: ann.output.trim() });
      expect({ code: await asked.ended(), output: asked.output }).toEqual({ code: 0, output: `${REPORT}\n` });
      serving.signal('SIGINT');
      expect(await serving.ended()).toBe(0);
    },
  );

  test('everything on the page is run, and what it prints is compared', () => {
    expect([...GUIDE.matchAll(/^```(?:js|sh)/gm)]).toHaveLength(PROGRAMS.size);
    expect([...PROGRAMS.keys()]).toEqual(['agent.mjs', 'ask', 'resume', 'token']);
    expect([...OUTPUTS.keys()]).toEqual(['first', 'resumed']);
  });
});
