import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { WriteCount } from './write-count.js';

/**
 * The frameworks' own packages, from test/frameworks, which have no part in our type check: what the bench asks of them is
 * said here.
 */

const home = new URL('../../test/frameworks/', import.meta.url);
const packages = createRequire(new URL('package.json', home));

const NEEDED = ['agent-squad', 'beeai-framework', '@langchain/langgraph', '@langchain/langgraph-checkpoint-sqlite'];

/** The packages that are not installed, and what installs them; null where all are there. */
export function missingFrameworks(): string | null {
  const missing = NEEDED.filter((name) => !existsSync(new URL(`node_modules/${name}/package.json`, home)));
  if (missing.length === 0) return null;
  return `${missing.join(', ')} missing: npm ci --legacy-peer-deps --ignore-scripts in ${fileURLToPath(home)}`;
}

export interface SquadMessage {
  readonly role: string;
  readonly content: readonly { readonly text: string }[];
}

export interface SquadStorage {
  saveChatMessage(user: string, session: string, agent: string, message: SquadMessage, max?: number): Promise<unknown>;
  fetchChat(user: string, session: string, agent: string, max?: number): Promise<readonly unknown[]>;
}

/** What the bench reaches into: it fills by hand what would take the framework hours, and commits what it does not. */
export interface SqlStorage extends SquadStorage {
  client: { transaction(): Promise<Transaction> };
  waitForInitialization(): Promise<void>;
}
interface Transaction {
  execute(statement: unknown): Promise<unknown>;
  commit(): Promise<void>;
}

export interface AgentSquadPackage {
  readonly ChatStorage: abstract new () => object;
  readonly InMemoryChatStorage: new () => SquadStorage & { conversations: Map<string, object[]> };
  readonly SqlChatStorage: new (url: string) => SqlStorage;
  readonly Logger: { logger: object };
}

/** Counts what the SQL storage writes, while it is set. */
let counting: WriteCount | null = null;
export const countSqlStorage = (count: WriteCount | null): void => void (counting = count);

/**
 * agent-squad, on our compiled SQLite: the one that its `@libsql/client` brings (8.7) is installed without its native part,
 * and speaks the same interface.
 */
export function agentSquad(): AgentSquadPackage {
  const theirs = createRequire(packages.resolve('@libsql/client')).resolve('better-sqlite3');
  const ours = new Proxy(Database, {
    construct: (Target, [path, options]: [string, object?]) =>
      new Target(path, { ...options, ...(counting ? { verbose: counting.hook() } : {}) }),
  });
  packages.cache[theirs] = Object.assign(Object.create(null) as NodeModule, { loaded: true, exports: ours });
  const squad = packages('agent-squad') as AgentSquadPackage;
  const nothing = (): void => undefined;
  squad.Logger.logger = { info: nothing, warn: nothing, error: nothing, debug: nothing, log: nothing };
  return squad;
}

export const beeai = <M>(path: string): M => packages(`beeai-framework/${path}`) as M;

export interface State {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly said: string;
}

interface ThreadConfig {
  readonly configurable: { readonly thread_id: string };
  readonly durability?: 'sync' | 'async' | 'exit';
}

export interface Graph {
  invoke(input: State, config: ThreadConfig): Promise<State>;
  updateState(config: ThreadConfig, values: State, asNode: string): Promise<unknown>;
  getState(config: ThreadConfig): Promise<{ readonly values: State }>;
}

interface GraphBuilder {
  addNode(name: string, step: (state: State) => Partial<State>): void;
  addEdge(from: string, to: string): void;
  compile(options: { checkpointer: object }): Graph;
}

interface LangGraph {
  readonly START: string;
  readonly END: string;
  readonly StateGraph: new (state: unknown) => GraphBuilder;
  readonly Annotation: {
    <V>(channel: { reducer: (before: V, update: V) => V; default: () => V }): unknown;
    Root(channels: Record<keyof State, unknown>): unknown;
  };
}

export function langGraph() {
  const graph = packages('@langchain/langgraph') as LangGraph;
  const saver = packages('@langchain/langgraph-checkpoint-sqlite') as { SqliteSaver: new (db: unknown) => object };
  return { ...graph, SqliteSaver: saver.SqliteSaver };
}
