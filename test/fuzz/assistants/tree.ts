import type { StepType } from '../../../protocol/index.js';
import { Random } from '../random.js';

/** What the assistants of a round do: a pure value that the seed gives, the same in every process. */
export interface Tree {
  /** The first is asked by the person; each calls only those behind it. */
  readonly assistants: readonly TreeAssistant[];
}

export type TreeAssistant = { readonly assistantId: string; readonly level: number } & (
  | { readonly kind: 'program'; readonly nodes: readonly Node[] }
  | {
      readonly kind: 'pipeline';
      readonly create: HookPlan | null;
      readonly rounds: readonly (readonly ToolPlan[])[];
      readonly thinks: boolean;
      readonly words: readonly string[];
      readonly next: HookPlan | null;
    }
);

export interface HookPlan {
  readonly nodes: readonly Node[];
  readonly to: string | null;
}

interface ToolPlan {
  readonly fails: boolean;
  readonly nodes: readonly Node[];
}

type Way = 'whole' | 'streamed' | 'replaced' | 'merged' | 'set';

export type Node =
  | {
      readonly do: 'send';
      readonly id: string;
      readonly way: Way;
      readonly words: readonly string[];
      readonly ends: boolean;
    }
  | { readonly do: 'step'; readonly id: string; readonly type: StepType; readonly nodes: readonly Node[] }
  | { readonly do: 'space'; readonly id: string; readonly op: 'set' | 'get' | 'getDel'; readonly key: string }
  | { readonly do: 'delegate' | 'call'; readonly id: string; readonly to: string }
  | { readonly do: 'all'; readonly id: string; readonly to: readonly string[] }
  | { readonly do: 'any' | 'race'; readonly id: string; readonly to: string; readonly losers: readonly boolean[] }
  /** Each branch is one step or one call: so all places among the calls are taken in the same order each time. */
  | { readonly do: 'parallel'; readonly id: string; readonly branches: readonly Node[] }
  | { readonly do: 'try'; readonly id: string; readonly how: 'step' | 'delegate'; readonly fallback: Node }
  | { readonly do: 'wait'; readonly id: string; readonly ms: number };

/** Fails always, in a step. */
export const FAILS = 'fails';
/** Fails always and records nothing. */
export const LOSES = 'loses';
/** Comes to no end. */
export const HANGS = 'hangs';

const MAX_LEVEL = 4;
/** Nodes that one run of an assistant and all that it calls may come to. */
const MAX_COST = 60;
const TYPES: readonly StepType[] = ['input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate'];
const WORDS = ['alpha ', 'beta ', '😀', ' 👩‍👩‍👧 ', 'é', 'gamma', '\n', '"q" ', '{}', '𝒳𝒴 '];

interface Callee {
  readonly assistantId: string;
  readonly level: number;
  readonly cost: number;
}

export function treeOf(seed: number): Tree {
  const random = Random.of(seed, 'tree');
  const assistants: TreeAssistant[] = [];
  const callees: Callee[] = [];
  for (let left = random.between(2, 6); left > 0; left--) {
    const isRoot = left === 1;
    const level = isRoot ? 0 : random.between(1, MAX_LEVEL - 1);
    const maker = new Maker(
      random,
      callees.filter((callee) => callee.level > level),
      isRoot ? MAX_COST : MAX_COST / 3,
    );
    const assistantId = isRoot ? 'root' : `a${left}`;
    assistants.unshift({ assistantId, level, ...(random.chance(0.35) ? maker.pipeline() : maker.program()) });
    callees.push({ assistantId, level, cost: maker.cost });
  }
  return { assistants };
}

class Maker {
  cost = 0;
  #ids = 0;

  constructor(
    private readonly random: Random,
    private readonly callees: readonly Callee[],
    private readonly budget: number,
  ) {}

  program(): { kind: 'program'; nodes: Node[] } {
    return { kind: 'program', nodes: this.#nodes(this.random.between(2, 6), 0) };
  }

  pipeline(): Omit<Extract<TreeAssistant, { kind: 'pipeline' }>, 'assistantId' | 'level'> {
    const { random } = this;
    const hook = (): HookPlan => ({ nodes: this.#leaf(), to: random.chance(0.3) ? this.#callee() : null });
    const tool = (): ToolPlan =>
      random.chance(0.2)
        ? { fails: true, nodes: [] }
        : { fails: false, nodes: random.chance(0.3) ? this.#nodes(1, 1) : this.#leaf() };
    return {
      kind: 'pipeline',
      create: random.chance(0.5) ? { ...hook(), to: null } : null,
      rounds: this.#times(random.between(0, 2), () => this.#times(random.between(1, 3), tool)),
      thinks: random.chance(0.3),
      words: this.#words(),
      next: random.chance(0.6) ? hook() : null,
    };
  }

  /** A sequence at the top of an assistant (0), or within a step (1, 2). */
  #nodes(count: number, within: number): Node[] {
    return this.#times(count, () => this.#node(within));
  }

  #node(within: number): Node {
    const { random } = this;
    const deep = within >= 2 || this.cost > this.budget;
    const kind = random.weighted({
      send: 4,
      leaf: 5,
      step: deep ? 0 : 2,
      space: 2,
      delegate: deep ? 0 : 2,
      call: deep ? 0 : 1.5,
      all: deep ? 0 : 0.7,
      any: deep ? 0 : 0.7,
      race: deep ? 0 : 0.7,
      parallel: deep ? 0 : 1.5,
      try: deep ? 0 : 1,
      wait: 1,
    });
    this.cost++;
    const id = this.#id();
    switch (kind) {
      case 'send':
        return this.#send();
      case 'leaf':
        return this.#step(this.#leaf());
      case 'step':
        return this.#step(this.#nodes(random.between(1, 4), within + 1));
      case 'space':
        return { do: 'space', id, op: 'set', key: this.#key() };
      case 'parallel':
        return {
          do: 'parallel',
          id,
          branches: this.#times(random.between(2, 3), () => this.#branch(within)),
        };
      case 'try':
        return { do: 'try', id, how: random.pick(['step', 'delegate']), fallback: this.#step(this.#leaf()) };
      case 'wait':
        return { do: 'wait', id, ms: random.pick([0, 0, 1, 3]) };
      default:
        return this.#call(kind);
    }
  }

  #branch(within: number): Node {
    const { random } = this;
    if (random.chance(0.3)) return this.#call(random.pick(['delegate', 'call']));
    return this.#step(random.chance(0.5) ? this.#leaf() : this.#nodes(random.between(1, 3), within + 1));
  }

  #call(kind: 'delegate' | 'call' | 'all' | 'any' | 'race'): Node {
    const to = this.#callee();
    const id = this.#id();
    if (to === null) return this.#step(this.#leaf());
    switch (kind) {
      case 'delegate':
      case 'call':
        return { do: kind, id, to };
      case 'all':
        return { do: kind, id, to: [to, this.#callee() ?? to] };
      default:
        return { do: kind, id, to, losers: this.#times(this.random.between(0, 2), () => this.random.chance(0.5)) };
    }
  }

  #callee(): string | null {
    const room = this.budget - this.cost;
    const callee = this.random.pick(this.callees.filter(({ cost }) => cost <= room));
    this.cost += callee?.cost ?? 0;
    return callee?.assistantId ?? null;
  }

  #step(nodes: readonly Node[]): Node {
    this.cost++;
    return { do: 'step', id: `s${this.#id()}`, type: this.random.pick(TYPES), nodes };
  }

  /** What a step does that has no step below it: here the space may be read. */
  #leaf(): Node[] {
    const { random } = this;
    return this.#times(random.between(0, 3), (): Node => {
      const kind = random.weighted({ send: 3, space: 3, wait: 2 });
      if (kind === 'send') return this.#send();
      const id = this.#id();
      if (kind === 'wait') return { do: 'wait', id, ms: random.pick([0, 1, 2, 8]) };
      return { do: 'space', id, op: random.pick(['set', 'get', 'getDel']), key: this.#key() };
    });
  }

  #send(): Node {
    const { random } = this;
    const way = random.weighted<Way>({ whole: 2, streamed: 4, replaced: 1, merged: 1, set: 1 });
    return { do: 'send', id: `m${this.#id()}`, way, words: this.#words(), ends: random.chance(0.8) };
  }

  #words(): string[] {
    return this.#times(this.random.between(1, 8), () => this.random.pick(WORDS));
  }

  #key(): string {
    return `k${this.random.between(0, 3)}`;
  }

  #id(): string {
    return String(++this.#ids);
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}
