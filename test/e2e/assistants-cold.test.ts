import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canonicalJson, type Json, type Message, type Result, type Turn } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { carryDatabase } from '../harness/database.js';
import { Person } from '../harness/person.js';
import { temporaryDirectory } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

/** TRN-9 from a cold process: whoever ran the turn is dead, and another goes on. Side effects are counted in a file. */

const MODULE = fileURLToPath(new URL('./cold-assistants.mjs', import.meta.url));
const CLERK = ['create', 'llm 1', 'tool p1', 'tool p2', 'llm 2', 'next'];
const BOSS = ['boss llm', 'boss next', ...CLERK];

/** What the stages of all processes did, and which one hangs. */
class Effects {
  readonly directory = temporaryDirectory();

  get ran(): string[] {
    const file = join(this.directory, 'effects');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  times(stage: string): number {
    return this.ran.filter((ran) => ran === stage).length;
  }

  forget(): void {
    rmSync(join(this.directory, 'effects'), { force: true });
  }

  hangAt(stage: string | null): void {
    if (stage === null) rmSync(join(this.directory, 'hangs'), { force: true });
    else writeFileSync(join(this.directory, 'hangs'), stage);
  }
}

/** A person who follows a chat on a server that may be killed. */
class Here {
  readonly effects = new Effects();
  chatId = '';
  requestId = '';
  person!: Person;
  server!: ServerProcess;

  async begin(assistantId: string, env: Record<string, string> = {}, dataDir?: string): Promise<this> {
    const all = { ASSISTANTS: MODULE, COLD_DIR: this.effects.directory, ...env };
    this.server = await new ServerProcess(all, dataDir).start();
    await this.join(assistantId);
    return this;
  }

  async join(assistantId?: string): Promise<void> {
    this.person = await new Person(this.server.url).open();
    if (assistantId !== undefined) this.chatId = await this.person.createChat({ assistantId });
    await this.person.follow(this.chatId);
  }

  async start(): Promise<void> {
    this.requestId = (await this.person.start(this.chatId, 'pay them')).turn.requestId;
  }

  /** Waits until this stage hangs, and all that was done before it is recorded. */
  async hangs(stage: string, times = 1): Promise<void> {
    await until(() => this.effects.times(stage) === times, `${stage} ran`, 20_000);
    if (!stage.startsWith('tool')) return;
    const isTold = async () => {
      const { steps } = await this.person.do<Result<'step:list'>>('step:list', { requestId: this.requestId });
      return steps.some(({ type, status }) => type === 'tool' && status === 'completed');
    };
    await until(isTold, 'the other tool');
  }

  async resume(attempt: number): Promise<void> {
    await this.person.do('turn:resume', { requestId: this.requestId, attempt });
  }

  turn(): Promise<Turn> {
    return this.person.turn(this.requestId);
  }

  async ended(attempt = 1): Promise<Turn> {
    const { person, chatId, requestId } = this;
    const ends = () => person.chats.get(chatId)?.ends(requestId) ?? [];
    // A process may have to start before.
    const end = await until(() => ends().find(({ turn }) => turn.attempt === attempt), 'the end', 30_000);
    return end.turn;
  }

  /** What the turn came to, and that nothing of it is anywhere else. */
  async answers(): Promise<Json[]> {
    const history = await expectConsistent(this.server.url, this.chatId, [this.person]);
    const mine = (message: Message): boolean => message.requestId === this.requestId && message.role === 'assistant';
    return history.filter(mine).map(({ type, props, state }) => ({ type, props, state }));
  }

  async stepTypes(): Promise<string[]> {
    const { steps } = await this.person.do<Result<'step:list'>>('step:list', { requestId: this.requestId });
    return steps.map(({ type, status, stackDepth }) => `${stackDepth} ${type} ${status}`);
  }
}

const answersOf = (who: string): Json[] => {
  const text = (content: string) => ({ type: 'text', props: { content }, state: 'closed' });
  const receipt = (to: string) => ({ paid: to, for: who });
  const pays = (to: string) => {
    const props = { toolCallId: to, tool: 'pay', input: { to }, state: 'completed', output: receipt(to) };
    return { type: 'tool_call', props, state: 'closed' };
  };
  return [
    ...(who === 'boss' ? [text('The clerk will do it.')] : []),
    ...[
      text('One moment.'),
      text('I pay both.'),
      pays('p1'),
      pays('p2'),
      text('paying p1, paid'),
      text('paying p2, paid'),
    ],
    ...[text(`Paid: ${JSON.stringify([receipt('p1'), receipt('p2')])}`), text('All'), text(' done.')],
  ];
};

/** Tools that run side by side may send in any order. */
const sorted = (answers: readonly Json[]) => answers.map(canonicalJson).sort();

/** An agent that is a process of its own. */
async function agentProcess(here: Here, agentId: string, serves: string): Promise<{ kill(): Promise<unknown> }> {
  const env = { COLD_DIR: here.effects.directory, COLD_URL: here.server.url, COLD_AGENT: agentId, COLD_SERVES: serves };
  const child = spawn(process.execPath, [MODULE], { env: { PATH: process.env['PATH'], ...env }, stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    kill: () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      return gone;
    },
  };
}

describe('TRN-9: cold', { timeout: 90_000 }, () => {
  test('LIF-2: kill -9 within each kind of step, a child’s too: the next process goes on where it was, again and again', async () => {
    const here = await new Here().begin('boss');
    const { effects, server } = here;
    const deaths = ['boss llm', 'llm 1', 'tool p2', 'next'];
    effects.hangAt(deaths[0] as string);
    await here.start();
    for (const [index, stage] of deaths.entries()) {
      await here.hangs(stage);
      await server.kill();
      effects.hangAt(deaths[index + 1] ?? null);
      await server.start();
      await here.join();
      expect(await here.turn()).toMatchObject({ status: 'interrupted', stopReason: 'crashed', attempt: index + 1 });
      await here.resume(index + 2);
    }
    expect(await here.ended(deaths.length + 1)).toMatchObject({ status: 'completed', usage: { totalTokens: 45 } });
    expect(sorted(await here.answers())).toEqual(sorted(answersOf('boss')));
    expect(BOSS.map((stage) => [stage, effects.times(stage)])).toEqual(
      BOSS.map((stage) => [stage, deaths.includes(stage) ? 2 : 1]),
    );
    expect(await here.stepTypes()).toEqual(
      [
        ...['0 input', '0 llm', '0 hook_next', '0 delegate', '1 input', '1 hook_create', '1 llm', '1 tool', '1 tool'],
        ...['1 llm', '1 hook_next'],
      ].map((step) => `${step} completed`),
    );
    effects.forget();
    await here.start();
    expect(await here.ended()).toMatchObject({ status: 'completed', usage: { totalTokens: 45 } });
    expect(sorted(await here.answers())).toEqual(sorted(answersOf('boss')));
    expect([...effects.ran].sort()).toEqual([...BOSS].sort());
  });

  test('LIF-1: stopped within a child’s tool; another machine with a copy of the database goes on', async () => {
    const here = await new Here().begin('boss', { DRAIN_MS: '50' });
    const { effects, server } = here;
    effects.hangAt('tool p1');
    await here.start();
    await here.hangs('tool p1');
    expect(await server.signal('SIGTERM')).toBe(0);
    const elsewhere = join(temporaryDirectory(), 'data');
    cpSync(server.dataDir, elsewhere, { recursive: true });
    rmSync(server.dataDir, { recursive: true });
    carryDatabase(server.dataDir, elsewhere);
    effects.hangAt(null);
    const env = { ASSISTANTS: MODULE, COLD_DIR: effects.directory };
    here.server = await new ServerProcess(env, elsewhere).start();
    await here.join();
    expect(await here.turn()).toMatchObject({ status: 'interrupted', stopReason: 'shutdown' });
    await here.resume(2);
    expect(await here.ended(2)).toMatchObject({ status: 'completed', usage: { totalTokens: 45 } });
    expect(sorted(await here.answers())).toEqual(sorted(answersOf('boss')));
    expect(BOSS.filter((stage) => effects.times(stage) !== 1)).toEqual(['tool p1']);
  });

  test('AGT-4: an agent process that is killed within a tool; another process with another name takes over', async () => {
    const here = await new Here().begin('clerk', { ASSISTANTS: '', AGENT_GRACE_MS: '50' });
    const { effects } = here;
    effects.hangAt('tool p2');
    const first = await agentProcess(here, 'agent-1', 'clerk');
    await here.start();
    await here.hangs('tool p2');
    await first.kill();
    expect(await here.ended()).toMatchObject({ status: 'interrupted', stopReason: 'agent_lost' });
    effects.hangAt('llm 2');
    const second = await agentProcess(here, 'agent-2', 'clerk');
    await here.resume(2);
    await here.hangs('llm 2');
    // The server dies, too, and comes back before any agent.
    await here.server.kill();
    await second.kill();
    effects.hangAt(null);
    await here.server.start();
    await here.join();
    expect(await here.turn()).toMatchObject({ status: 'interrupted', stopReason: 'crashed', attempt: 2 });
    await here.resume(3);
    await agentProcess(here, 'agent-3', 'clerk');
    expect(await here.ended(3)).toMatchObject({ status: 'completed', usage: { totalTokens: 30 } });
    expect(sorted(await here.answers())).toEqual(sorted(answersOf('nobody')));
    expect(CLERK.filter((stage) => effects.times(stage) !== 1)).toEqual(['tool p2', 'llm 2']);
  });

  test('AGT-8: an agent process with the child of a caller in the server is killed; another one goes on with the child', async () => {
    const here = await new Here().begin('boss', { COLD_SERVES: 'boss', AGENT_GRACE_MS: '50' });
    const { effects } = here;
    effects.hangAt('tool p1');
    const first = await agentProcess(here, 'agent-1', 'clerk');
    await here.start();
    await here.hangs('tool p1');
    await first.kill();
    expect(await here.ended()).toMatchObject({ status: 'failed', error: { code: 'agent_lost' } });
    effects.hangAt(null);
    await agentProcess(here, 'agent-2', 'clerk');
    await here.resume(2);
    expect(await here.ended(2)).toMatchObject({ status: 'completed', usage: { totalTokens: 45 } });
    expect(sorted(await here.answers())).toEqual(sorted(answersOf('boss')));
    expect(BOSS.filter((stage) => effects.times(stage) !== 1)).toEqual(['tool p1']);
  });
});
