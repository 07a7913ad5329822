import { join } from 'node:path';
import { defineAssistant } from '../../../assistant/index.js';
import type { Agent } from '../../../client/agent/index.js';
import { isEnded, type Result, type Step, type Turn } from '../../../protocol/index.js';
import { httpHistory } from '../../harness/consistent.js';
import { Proxy } from '../../harness/proxy.js';
import { agentOf } from '../../harness/sdk.js';
import { ServerProcess } from '../../harness/server-process.js';
import { startServer, temporaryDirectory } from '../../harness/server.js';
import { until } from '../../harness/until.js';
import { difference, Watcher, type WatchedChat } from '../watcher.js';
import { compiledModule } from './compiled.js';
import { Effects, type Throws } from './effects.js';
import { assistantsOf } from './perform.js';
import { GRACE_MS, type Deed, type Plan } from './plan.js';

const CHAT = 'chat';
const REQUEST = 'request';
const PATIENCE_MS = 20_000;

/** Where a tree is performed: a server, its agents, and one who follows. */
export class Stage {
  /** What did not fit, the first first. */
  readonly faults: string[] = [];
  readonly trace: string[] = [];
  readonly effects: Effects;
  #url = '';
  #process: ServerProcess | null = null;
  #watcher!: Watcher;
  #agent: { readonly agent: Agent; readonly network: Proxy } | null = null;
  /** Networks of agents that were given up, to be mended later. */
  readonly #lost: Proxy[] = [];
  #agents = 0;

  constructor(
    private readonly plan: Plan,
    private readonly throws: Throws,
    /** Without disturbances everything runs in this process. */
    private readonly isPlain: boolean,
  ) {
    this.effects = new Effects(join(temporaryDirectory(), 'effects.jsonl'), throws);
  }

  async begin(): Promise<void> {
    await this.#startServer();
    if (this.#remote.length > 0) await this.#attach();
    this.#watcher = new Watcher(
      this.#url,
      { userId: 'ann' },
      {
        mayMove: false,
        mayBeLate: () => false,
        mayGoBack: () => false,
        answerMs: 30_000,
        fault: this.fault,
        leaving: () => undefined,
      },
    );
    await this.#watcher.open();
    await this.#watcher.do('chat:create', { chatId: CHAT, assistantId: 'root' });
    await this.#watcher.watch(CHAT);
  }

  readonly fault = (what: string): void => void this.faults.push(what);

  note(what: string): void {
    this.trace.push(what);
  }

  start(): Promise<unknown> {
    return this.#watcher.do('turn:start', { chatId: CHAT, requestId: REQUEST, assistantId: 'root', input: 'root' });
  }

  async resume(attempt: number): Promise<void> {
    for (const network of this.#lost.splice(0)) network.isUp = true;
    await this.#watcher.do('turn:resume', { chatId: CHAT, requestId: REQUEST, attempt });
  }

  get events(): number {
    return this.#chat.events.length;
  }

  /** The turn as the follower sees it. */
  get turn(): Turn | undefined {
    return this.#chat.view?.turns.get(REQUEST);
  }

  isOver(attempt: number): boolean {
    const { turn } = this;
    return turn?.attempt === attempt && isEnded(turn.status);
  }

  ended(attempt: number): Promise<unknown> {
    return until(() => this.isOver(attempt) || this.faults.length > 0, `the end of attempt ${attempt}`, PATIENCE_MS);
  }

  async steps(): Promise<Step[]> {
    return (await this.#watcher.do<Result<'step:list'>>('step:list', { requestId: REQUEST })).steps;
  }

  history(): ReturnType<typeof httpHistory> {
    return httpHistory(this.#url, CHAT, { userId: 'ann' });
  }

  /** DAT-4: what the follower has seen come is what is stored. */
  async compareView(): Promise<void> {
    const history = await this.history();
    const differs = (): string | null => difference(this.#chat.view?.messages ?? [], history);
    await until(() => differs() === null, 'the history', 2000).catch(() =>
      this.fault(`DAT-4: view and history: ${differs()}`),
    );
  }

  async perform(deed: Deed): Promise<void> {
    this.note(`${deed} at event ${this.events} of attempt ${this.turn?.attempt}`);
    switch (deed) {
      case 'stop':
        await this.#watcher.ask('turn:stop', { chatId: CHAT, requestId: REQUEST });
        return;
      case 'cut':
        this.#agent?.network.cut();
        return;
      case 'replace':
        await this.#agent?.agent.close({ drain: false });
        return this.#attach();
      case 'lose':
        return this.#lose();
      case 'kill':
        return this.#kill();
    }
  }

  get #chat(): WatchedChat {
    return this.#watcher.watched.get(CHAT) as WatchedChat;
  }

  get #remote(): string[] {
    return this.isPlain ? [] : [...this.plan.remote];
  }

  async #startServer(): Promise<void> {
    const { seed, mode, env } = this.plan;
    const all = this.#assistants();
    const own = all.filter(({ assistantId }) => !this.#remote.includes(assistantId));
    if (this.isPlain || mode !== 'crashes') {
      this.#url = (await startServer({ env, assistants: own })).url;
      return;
    }
    this.#process = new ServerProcess({
      ...env,
      ASSISTANTS: own.length > 0 ? compiledModule() : '',
      FUZZ_TREE: String(seed),
      FUZZ_SERVES: own.map(({ assistantId }) => assistantId).join(','),
      FUZZ_EFFECTS: this.effects.file,
      FUZZ_THROWS: JSON.stringify(this.throws),
    });
    await this.#process.start();
    this.#url = this.#process.url;
  }

  #assistants(): ReturnType<typeof assistantsOf> {
    return assistantsOf(this.plan.tree, { defineAssistant, effects: this.effects });
  }

  async #attach(): Promise<void> {
    const network = await Proxy.to(this.#url);
    const served = this.#assistants().filter(({ assistantId }) => this.#remote.includes(assistantId));
    const agent = await agentOf(network.url, served, {
      agentId: `agent-${++this.#agents}`,
      auth: { userId: 'agent', roles: ['agent'] },
      concurrency: 200,
    });
    this.#agent = { agent, network };
  }

  /** The agent is cut off for longer than the server waits, and does not know; another takes over. */
  async #lose(): Promise<void> {
    const network = this.#agent?.network;
    if (!network) return;
    network.isUp = false;
    network.cut();
    this.#lost.push(network);
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS + 100));
    await this.#attach();
  }

  async #kill(): Promise<void> {
    const server = this.#process;
    if (!server) return;
    await server.kill();
    await server.start();
    await this.#watcher.open();
    await this.#watcher.watch(CHAT);
    if (this.#agent) {
      const { state } = this.#agent.agent;
      await until(() => state.getSnapshot().attached, 'the agent is back', PATIENCE_MS);
    }
  }

  /** What the server said that it should not have to. */
  async finish(): Promise<void> {
    for (const line of this.#process?.output.split('\n') ?? []) {
      if (/^\{"level":[56]0/.test(line)) this.fault(`the server said: ${line.slice(0, 1000)}`);
    }
    await this.#process?.kill();
  }
}
