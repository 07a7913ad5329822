import type { OnBusy } from '../../protocol/index.js';
import { Random } from './random.js';
import type { Misfortune } from './topology.js';

/** What happens in a round, drawn from its seed alone, before anything runs. */

export const PERSONS = 4;
export const AGENTS = 3;
export const CHATS = 4;

/** What people do. */
export type PersonDeed =
  | {
      readonly do: 'start';
      readonly assistantId: string;
      readonly onBusy: OnBusy;
      readonly inputs: readonly string[];
      readonly isTwice: boolean;
      readonly inNewChat: boolean;
    }
  | { readonly do: 'regenerate'; readonly onBusy: OnBusy }
  | { readonly do: 'stop'; readonly isNamed: boolean }
  | { readonly do: 'resume'; readonly isNamed: boolean; readonly isTwice: boolean }
  | { readonly do: 'rename'; readonly title: string }
  | { readonly do: 'edit'; readonly content: string }
  | { readonly do: 'delete'; readonly count: number }
  | { readonly do: 'deleteChat' }
  | { readonly do: 'follow'; readonly messageLimit: number; readonly isFresh: boolean }
  | { readonly do: 'unfollow' }
  /** Cuts the connection and comes back with the positions held. */
  | { readonly do: 'bounce'; readonly awayMs: number }
  | { readonly do: 'page'; readonly query: Readonly<Record<string, number>>; readonly overHttp: boolean }
  /** A newcomer looks at the chat and leaves. */
  | { readonly do: 'peek'; readonly messageLimit: number }
  | { readonly do: 'type'; readonly typing: boolean }
  /** Reads nothing from its socket for a while. */
  | { readonly do: 'freeze'; readonly ms: number };

/** What agents do beside answering. */
export type AgentDeed =
  | { readonly do: 'agentDrop'; readonly awayMs: number }
  /** A second connection attaches under the same agentId. */
  | { readonly do: 'agentReplace' }
  | { readonly do: 'agentFreeze'; readonly ms: number }
  | { readonly do: 'open'; readonly inNewChat: boolean; readonly isTwice: boolean };

type Deed = PersonDeed | AgentDeed | { readonly do: 'befall'; readonly misfortune: Misfortune };

/** A deed with its time and with who does it where. What exists by then is chosen by the fractions. */
export interface Moment {
  /** Milliseconds after the start of the round. Real sockets make this the one thing that is not exact. */
  readonly atMs: number;
  readonly person: number;
  readonly agent: number;
  readonly chat: number;
  readonly which: number;
  readonly deed: Deed;
}

export interface Plan {
  readonly seed: number;
  readonly isRough: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly moments: readonly Moment[];
}

const GAP_MS = 45;

export interface Outline {
  readonly seconds: number;
  readonly isRough: boolean;
  /** How often what befalls one server comes, beside all that people do. */
  readonly weights: { readonly lock: number; readonly end: number };
  /** What befalls the servers beside. */
  readonly misfortunes?: readonly { readonly atMs: number; readonly misfortune: Misfortune }[];
}

export function planOf(seed: number, { seconds, isRough, weights, misfortunes = [] }: Outline): Plan {
  const random = new Random(seed);
  const moments: Moment[] = [];
  for (let atMs = 0; atMs < seconds * 1000; atMs += random.between(0, 2 * GAP_MS)) {
    moments.push({
      atMs,
      person: random.between(0, PERSONS - 1),
      agent: random.between(0, AGENTS - 1),
      chat: random.fraction(),
      which: random.fraction(),
      deed: deedOf(random, weights),
    });
  }
  for (const { atMs, misfortune } of misfortunes)
    moments.push({ atMs, person: 0, agent: 0, chat: 0, which: 0, deed: { do: 'befall', misfortune } });
  return { seed, isRough, env: envOf(random), moments: moments.sort((a, b) => a.atMs - b.atMs) };
}

/** Short bounds, so that a round of seconds meets them. */
function envOf(random: Random): Record<string, string> {
  return {
    COALESCE_MS: random.pick(['0', '5', '33']),
    AGENT_GRACE_MS: random.pick(['400', '1200']),
    AGENT_WAIT_MS: '600',
    COMMIT_RETRY_MS: '900',
    DRAIN_MS: random.pick(['0', '300']),
    MAX_QUEUED_TURNS: '4',
    LOG_MAX_EVENTS: random.pick(['30', '400', '2000']),
    FSYNC_MS: '20',
  };
}

const WEIGHTS = {
  start: 26,
  regenerate: 5,
  stop: 8,
  resume: 11,
  rename: 2,
  edit: 5,
  delete: 5,
  deleteChat: 0.6,
  follow: 6,
  unfollow: 3,
  bounce: 7,
  page: 8,
  peek: 5,
  type: 2,
  freeze: 1.5,
  agentDrop: 5,
  agentReplace: 2,
  agentFreeze: 1.5,
  open: 5,
};

function deedOf(random: Random, weights: Outline['weights']): Deed {
  const kind = random.weighted({ ...WEIGHTS, ...weights });
  switch (kind) {
    case 'start':
      return {
        do: kind,
        assistantId: random.weighted({ alpha: 10, beta: 6, echo: 4, nobody: 1 }),
        onBusy: onBusy(random),
        inputs: Array.from({ length: random.chance(0.2) ? random.between(2, 4) : 1 }, () => words(random)),
        isTwice: random.chance(0.25),
        inNewChat: random.chance(0.08),
      };
    case 'regenerate':
      return { do: kind, onBusy: onBusy(random) };
    case 'stop':
      return { do: kind, isNamed: random.chance(0.6) };
    case 'resume':
      return { do: kind, isNamed: random.chance(0.6), isTwice: random.chance(0.3) };
    case 'rename':
      return { do: kind, title: words(random) };
    case 'edit':
      return { do: kind, content: words(random) };
    case 'delete':
      return { do: kind, count: random.between(1, 3) };
    case 'follow':
      return { do: kind, messageLimit: random.pick([1, 3, 200, 200]), isFresh: random.chance(0.4) };
    case 'bounce':
      return { do: kind, awayMs: random.chance(0.5) ? 0 : random.between(1, 500) };
    case 'page':
      return { do: kind, query: queryOf(random), overHttp: random.chance(0.4) };
    case 'peek':
      return { do: kind, messageLimit: random.pick([1, 5, 200]) };
    case 'type':
      return { do: kind, typing: random.chance(0.5) };
    case 'freeze':
    case 'agentFreeze':
      return { do: kind, ms: random.between(50, 900) };
    case 'agentDrop':
      return { do: kind, awayMs: random.chance(0.7) ? random.between(0, 300) : random.between(1000, 1800) };
    case 'open':
      return { do: kind, inNewChat: random.chance(0.15), isTwice: random.chance(0.3) };
    case 'lock':
      return befall({ do: kind, ms: random.chance(0.6) ? random.between(20, 500) : random.between(900, 1900) });
    case 'end':
      return befall({ do: kind, signal: random.chance(0.7) ? 'SIGKILL' : 'SIGTERM', downMs: random.between(0, 300) });
    default:
      return { do: kind };
  }
}

const befall = (misfortune: Misfortune): Deed => ({ do: 'befall', misfortune });

const onBusy = (random: Random): OnBusy => random.weighted({ enqueue: 6, parallel: 3, interrupt: 3, reject: 2 });

function queryOf(random: Random): Record<string, number> {
  const limit = random.pick([1, 2, 7, 50, 200]);
  return random.pick<Record<string, number>>([
    { limit },
    { limit, after: random.between(0, 30) },
    { limit, before: random.between(1, 60) },
    { limit, offset: random.between(0, 20) },
  ]);
}

const WORDS = ['one', ' two', ' ', 'drei', '\n', ' né', ' 漢字', ' 😀', ' %_', '👩‍👩‍👧', ' "quoted"', ' \\ '];

/** A text that is not empty. */
function words(random: Random): string {
  return `w${Array.from({ length: random.between(0, 8) }, () => random.pick(WORDS)).join('')}`;
}
