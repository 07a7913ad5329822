import { foldChat, type ChatView } from '../../../../protocol/index.js';
import { Held, type Store } from '../../../store.js';
import { isStart, type Draft, type Entry } from './entry.js';
import { foldEvent } from './fold-event.js';

/** What is held of a log. */
export interface LogState {
  /** Ascending by id, without holes. */
  readonly entries: readonly Entry[];
  /** The view after the last entry; null while there is none. */
  readonly tip: ChatView | null;
}

/** A view is kept of each so many entries: scrubbing folds from there. */
const KEYFRAME = 64;
/** More entries than this are not held: the oldest go, some at a time. */
const MAX_ENTRIES = 20_000;
const TRIMMED_AT_ONCE = 5_000;

/** A chat's log as this page holds it: it only grows, and gives the view at any place of it. */
export class LogBook {
  readonly #state = new Held<LogState>({ entries: [], tip: null });
  /** By entry id. */
  readonly #keyframes = new Map<number, ChatView>();
  #shown: { readonly id: number; readonly view: ChatView } | null = null;
  #nextId = 0;

  get state(): Store<LogState> {
    return this.#state;
  }

  /**
   * Adds to the end. What the log holds already (SUB-3) is dropped.
   *
   * @returns what went wrong at the first event that does not fit, null where all do: nothing from there on is added
   */
  add(drafts: readonly Draft[]): string | null {
    const { entries, tip: before } = this.#state.getSnapshot();
    const added: Entry[] = [];
    let tip = before;
    let problem: string | null = null;
    for (const draft of drafts) {
      if (isStart(draft)) {
        added.push({ kind: 'start', id: this.#nextId, ...draft });
        tip = draft.view;
        this.#keyframes.set(this.#nextId++, tip);
        continue;
      }
      if (tip && draft.epoch === tip.position.epoch && draft.offset <= tip.position.offset) continue;
      const next = tip ? foldEvent(tip, draft) : 'It comes before anything else.';
      if (typeof next === 'string') {
        problem = next;
        break;
      }
      tip = next;
      if (this.#nextId % KEYFRAME === 0) this.#keyframes.set(this.#nextId, tip);
      added.push({ kind: 'event', id: this.#nextId++, event: draft });
    }
    if (added.length > 0) this.#state.set({ entries: this.#bounded([...entries, ...added]), tip });
    return problem;
  }

  /** The view after an entry; the nearest one that is held. Null while there is none. */
  viewAt(id: number): ChatView | null {
    const { entries, tip } = this.#state.getSnapshot();
    const first = entries[0];
    const last = entries.at(-1);
    if (!first || !last || id >= last.id) return tip;
    const wanted = Math.max(id, first.id);
    let at = wanted;
    while (at > first.id && !this.#keyframes.has(at) && this.#shown?.id !== at) at--;
    let view = this.#shown?.id === at ? this.#shown.view : this.#keyframes.get(at);
    for (let next = at + 1; view && next <= wanted; next++) {
      const entry = entries[next - first.id];
      if (entry) view = entry.kind === 'start' ? entry.view : foldChat(view, entry.event);
    }
    if (!view) return null;
    this.#shown = { id: wanted, view };
    return view;
  }

  #bounded(entries: readonly Entry[]): readonly Entry[] {
    const cut = entries[TRIMMED_AT_ONCE];
    if (entries.length <= MAX_ENTRIES || !cut) return entries;
    const view = this.viewAt(cut.id);
    if (!view) return entries;
    for (const id of this.#keyframes.keys()) if (id < cut.id) this.#keyframes.delete(id);
    this.#keyframes.set(cut.id, view);
    const start: Entry = { kind: 'start', id: cut.id, why: 'trimmed', view, unknown: [], problem: '' };
    return [start, ...entries.slice(TRIMMED_AT_ONCE + 1)];
  }
}
