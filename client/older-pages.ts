import { ChatError, solidFrom, type ChatEvent, type ChatView } from '../protocol/index.js';
import type { Following } from './following.js';
import { layPage, type MessagePage } from './lay-page.js';

type PageAnswer = { readonly page: MessagePage } | { readonly error: ChatError };

export interface OlderPagesNeeds {
  readonly following: Pick<Following, 'view' | 'phase' | 'generation' | 'unsureBelow' | 'again' | 'rewrite'>;
  /** Asks for the newest `limit` messages, of those with sequences below `before` where it is given. */
  readonly list: (before: number | undefined, limit: number, answered: (answer: PageAnswer) => void) => void;
}

/** A page that was asked for. */
interface Reading {
  /** Undefined: nothing was held that it could lie below, and it is the newest page. */
  readonly before: number | undefined;
  /** The view's offset when it was asked for: a page of before cannot be brought up to date. */
  readonly from: number;
  /** What was folded into the view since. */
  readonly events: ChatEvent[];
  page: MessagePage | null;
}

interface Wanted {
  readonly limit: number;
  readonly resolve: () => void;
  readonly reject: (error: ChatError) => void;
}

/** Pages in a row that could not be used, because the chat went on in a way that no event tells, before it is given up. */
const MAX_TRIES = 5;
const MAX_PAGE = 200;

/**
 * Messages older than those of the snapshot. A page is laid under the view at the moment when the view has reached the
 * page's position, with the events since then on top: neither overwrites the other, whichever comes first (SUB-3, C40).
 * What was kept over a snapshot is read again by itself, from the top down. One page is read at a time.
 */
export class OlderPages {
  #reading: Reading | null = null;
  #wanted: Wanted | null = null;
  #loading: Promise<void> | null = null;
  #generation = 0;
  /** Messages with sequences below this one are still to be read again. */
  #unsureBelow: number | null = null;
  #tries = 0;

  constructor(private readonly needs: OlderPagesNeeds) {}

  /**
   * Loads the page below what is held, of at most `limit` messages, as soon as the chat is live: the newest one, once
   * all that was held is deleted. Nothing happens where nothing is older, or nobody follows the chat. A call during another
   * one is answered with it.
   *
   * @throws {ChatError} what the server refused
   */
  load(limit: number): Promise<void> {
    this.#loading ??= new Promise<void>((resolve, reject) => {
      this.#wanted = { limit, resolve, reject };
      this.#proceed();
    }).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** To be called after every change of the following, with the events that were folded in. */
  changed(events: readonly ChatEvent[]): void {
    this.#reading?.events.push(...events);
    const { generation, unsureBelow } = this.needs.following;
    if (generation !== this.#generation) {
      // A snapshot: pages of before it are worth nothing.
      this.#generation = generation;
      this.#unsureBelow = unsureBelow;
      this.#reading = null;
    }
    this.#proceed();
  }

  #proceed(): void {
    const { view, phase } = this.needs.following;
    if (!view || phase.name === 'idle' || phase.name === 'ended') return this.#stop();
    if (phase.name !== 'live') return;
    if (!this.#reading) return this.#next(view);
    if (this.#reading.page) this.#use(view, this.#reading, this.#reading.page);
  }

  /** Nobody looks any more: a late answer for a closed chat is ignored. */
  #stop(): void {
    this.#reading = null;
    this.#settle(null);
  }

  #next(view: ChatView): void {
    if (this.#unsureBelow !== null) return this.#ask(view, this.#unsureBelow, MAX_PAGE);
    if (!this.#wanted) return;
    if (!view.hasMore) return this.#settle(null);
    this.#ask(view, view.messages[0]?.sequence, this.#wanted.limit);
  }

  #ask(view: ChatView, before: number | undefined, limit: number): void {
    const reading: Reading = { before, from: view.position.offset, events: [], page: null };
    this.#reading = reading;
    this.needs.list(before, limit, (answer) => {
      if (this.#reading !== reading) return;
      if ('error' in answer) return this.#fail(answer.error);
      reading.page = answer.page;
      this.#proceed();
    });
  }

  /** Lays the page, if its time has come. */
  #use(view: ChatView, reading: Reading, page: MessagePage): void {
    const { position } = page;
    if (position.epoch !== view.position.epoch) {
      // The page is of another life of the log, which the following has to find out first.
      if (++this.#tries > MAX_TRIES) return this.#fail(unsettled());
      return this.needs.following.again();
    }
    if (position.offset > view.position.offset) return;
    const laid = position.offset < reading.from ? null : tryLay(view, reading, page);
    if (laid) return this.#lay(laid, page);
    if (++this.#tries > MAX_TRIES) return this.#fail(unsettled());
    this.#reading = null;
    this.#next(view);
  }

  #lay(view: ChatView, page: MessagePage): void {
    this.#reading = null;
    this.#tries = 0;
    const floor = solidFrom(page);
    const isVerification = this.#unsureBelow !== null;
    if (isVerification) this.#unsureBelow = view.messages.some(({ sequence }) => sequence < floor) ? floor : null;
    else this.#settle(null);
    this.needs.following.rewrite(view);
  }

  #fail(error: ChatError): void {
    this.#reading = null;
    this.#tries = 0;
    const below = this.#unsureBelow;
    if (below === null) return this.#settle(error);
    // What cannot be verified is dropped: it can be loaded again.
    this.#unsureBelow = null;
    const { following } = this.needs;
    const { view } = following;
    if (!view) return;
    const messages = view.messages.filter(({ sequence }) => sequence >= below);
    following.rewrite({ ...view, messages, hasMore: true });
  }

  #settle(error: ChatError | null): void {
    const wanted = this.#wanted;
    this.#wanted = null;
    if (error) wanted?.reject(error);
    else wanted?.resolve();
  }
}

function tryLay(view: ChatView, { before, events }: Reading, page: MessagePage): ChatView | null {
  try {
    return layPage(view, before ?? Infinity, page, events);
  } catch {
    return null;
  }
}

const unsettled = (): ChatError => new ChatError('conflict', 'The chat changed too fast for a page of it to be read.');
