import type { Stored } from './rows.js';

/** Where the peers of a round connect, and what may befall that. */
export interface Topology {
  /** Where peers connect, and connect again. */
  readonly url: string;
  /** Every server by itself: what holds is looked for at each. */
  readonly urls: readonly string[];
  /** Whether there are several nodes: then what a command is about may be out of reach for a while, and an agent asks again. */
  readonly isSpread: boolean;
  /** How long anything may take that comes by itself: generous, for machines that do other work beside. */
  readonly patienceMs: number;
  /** What the servers have said. */
  readonly output: string;
  /** Lines of it that are no fault, beside warnings. */
  readonly usualLines: readonly RegExp[];
  begin(ground: Ground): Promise<void>;
  /** Resolves when somebody answers. */
  ready(): Promise<void>;
  /** Resolves when it is over, and everything is up again. */
  befall(misfortune: Misfortune): Promise<void>;
  /** Ends what only waits for its time. */
  heal(): void;
  stored(): Promise<Stored>;
}

/** What a topology needs of its round. */
export interface Ground {
  pause(ms: number): Promise<void>;
  trace(line: string): void;
  fault(what: string): void;
  /** What runs in these lives of the servers dies without a word: in the present one, or in all so far, where they overlap. */
  crash(lives: 'present' | 'all'): void;
  /** What begins from now on belongs to another life. */
  beginLife(): void;
  /** From now on an owner may show what the next one does not know (LIF-4: it is cut off, and its chats are taken over). */
  expose(): void;
  /** It is over. */
  shelter(): void;
  /** Whoever has lost its connection connects again. */
  comeBack(): Promise<void>;
}

/** Which node: the one in which most turns run, or by a fraction. */
export type Which = 'busiest' | number;

export type Misfortune =
  // One server
  /** Another process holds the database's write lock. */
  | { readonly do: 'lock'; readonly ms: number }
  | { readonly do: 'end'; readonly signal: EndSignal; readonly downMs: number }
  // Several nodes
  /** It comes back as another node, on the data directory that it had. */
  | { readonly do: 'nodeEnd'; readonly which: Which; readonly signal: EndSignal; readonly downMs: number }
  /** All of them at once, by kill -9. */
  | { readonly do: 'nodesKill'; readonly downMs: number }
  /** SIGSTOP, and SIGCONT. */
  | { readonly do: 'nodeStop'; readonly which: Which; readonly ms: number }
  /** Redis is killed, and comes back with nothing. */
  | { readonly do: 'redisEmpty'; readonly downMs: number }
  /** The network between one node and Redis. */
  | { readonly do: 'redisCut'; readonly which: Which; readonly ms: number }
  | { readonly do: 'postgresStop'; readonly ms: number };

type EndSignal = 'SIGKILL' | 'SIGTERM';
