import { isEnded, type Step, type StepSummary, type Turn } from '../protocol/index.js';
import type { Caller } from './caller.js';
import type { ChatSnapshot } from './chat-snapshot.js';
import { Interned } from './interned.js';
import { LOADING, type ReadState } from './read-state.js';
import { Reader } from './reader.js';
import { Held, type Store } from './store.js';

export type ShownStep = Step | StepSummary;

export interface TurnStoresNeeds {
  readonly caller: Pick<Caller, 'call'>;
  /** The chat: to subscribe is to follow. */
  readonly view: Store<ChatSnapshot>;
}

/** Names what the server has to be asked at present: asked whenever it is another one. Null where nothing is to be asked. */
type Question = (chat: ChatSnapshot) => string | null;

/** Single turns of a chat, and their steps. What the chat's events tell is taken from them; the rest is asked for. */
export class TurnStores {
  readonly #turns = new Interned<Store<ReadState<Turn>>>();
  readonly #steps = new Interned<Store<ReadState<readonly ShownStep[]>>>();
  /** Times that the chat became live: what was read in between may have been missed. */
  #lives = 0;

  constructor(private readonly needs: TurnStoresNeeds) {}

  /** To be called at each change of the chat, before anybody is told. */
  changed(chat: ChatSnapshot, before: ChatSnapshot): void {
    if (isLive(chat) && !isLive(before)) this.#lives++;
  }

  /**
   * A turn. One that the chat does not tell of, because its messages are on an older page, is asked for, and again after
   * the chat was out of sight.
   */
  turn(requestId: string): Store<ReadState<Turn>> {
    const { caller, view } = this.needs;
    return this.#turns.get(requestId, () => {
      const reader = new Reader(async () => (await caller.call('turn:get', { requestId })).turn);
      const question: Question = (chat) =>
        this.#canAsk(chat, requestId) && !chat.turns.has(requestId) ? `${this.#lives}` : null;
      return combined(view, reader, question, (chat, read) => {
        const turn = chat.turns.get(requestId);
        return turn ? { status: 'read', value: turn, error: null } : read;
      });
    });
  }

  /**
   * The steps of a turn, ascending: those recorded, asked for (they hold prompts, so who may not talk in the chat is
   * refused them), and on top what events tell of a turn that runs.
   */
  steps(requestId: string): Store<ReadState<readonly ShownStep[]>> {
    const { caller, view } = this.needs;
    return this.#steps.get(requestId, () => {
      const reader = new Reader<readonly ShownStep[]>(
        async () => (await caller.call('step:list', { requestId })).steps,
      );
      const question: Question = (chat) => {
        if (!this.#canAsk(chat, requestId)) return null;
        const turn = chat.turns.get(requestId);
        // Once more at the end: events say that a step has ended, and not what came of it.
        return `${this.#lives} ${turn?.attempt ?? ''} ${turn ? isEnded(turn.status) : ''}`;
      };
      return combined(view, reader, question, (chat, read) => withLive(read, chat.steps, requestId));
    });
  }

  /** An input that is on its way has no turn yet. */
  #canAsk(chat: ChatSnapshot, requestId: string): boolean {
    return isLive(chat) && !chat.pending.some((input) => input.requestId === requestId);
  }
}

const isLive = ({ status }: ChatSnapshot): boolean => status === 'live';

function withLive(
  read: ReadState<readonly ShownStep[]>,
  live: ReadonlyMap<string, StepSummary>,
  requestId: string,
): ReadState<readonly ShownStep[]> {
  const news = [...live.values()].filter((step) => step.requestId === requestId);
  if (news.length === 0) return read;
  const steps = new Map<string, ShownStep>((read.value ?? []).map((step) => [step.stepId, step]));
  for (const step of news) {
    const recorded = steps.get(step.stepId);
    // What was read of a step goes on standing where an event says the same.
    if (recorded?.status !== step.status) steps.set(step.stepId, step);
  }
  const value = [...steps.values()].sort((a, b) => a.sequence - b.sequence);
  return read.status === 'refused' ? { ...read, value } : { status: 'read', value, error: null };
}

/** A store over a chat and what was asked about it; the same reference until what it shows is another. */
function combined<T>(
  view: Store<ChatSnapshot>,
  reader: Reader<T>,
  question: Question,
  combine: (chat: ChatSnapshot, read: ReadState<T>) => ReadState<T>,
): Store<ReadState<T>> {
  let asked: string | null = null;
  let from: readonly unknown[] = [];
  let shown: ReadState<T> = LOADING;

  const getSnapshot = (): ReadState<T> => {
    const chat = view.getSnapshot();
    const read = reader.state.getSnapshot();
    const parts = [chat.turns, chat.steps, read];
    if (parts.every((part, at) => part === from[at])) return shown;
    from = parts;
    const next = combine(chat, read);
    if (!isSame(next, shown)) shown = next;
    return shown;
  };
  const told = new Held<ReadState<T>>(shown);
  const look = (): void => {
    const now = question(view.getSnapshot());
    if (now !== null && now !== asked) {
      asked = now;
      reader.ask();
    }
    told.set(getSnapshot());
  };
  return {
    getSnapshot,
    subscribe(listener) {
      const ends = [told.subscribe(listener), view.subscribe(look), reader.state.subscribe(look)];
      look();
      return () => {
        for (const end of ends.splice(0)) end();
      };
    },
  };
}

function isSame<T>(a: ReadState<T>, b: ReadState<T>): boolean {
  if (a.status !== b.status || a.error !== b.error) return false;
  if (!Array.isArray(a.value) || !Array.isArray(b.value)) return a.value === b.value;
  const others: readonly unknown[] = b.value;
  return a.value.length === others.length && a.value.every((one: unknown, at) => one === others[at]);
}
