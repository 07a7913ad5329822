import type { Args, ChatEvent, Presence, Signal, SubscribeResult } from '../../protocol/index.js';
import { ChatError } from '../../protocol/index.js';
import { isoNow, pause, settlesWithin, type Clock } from '../clock.js';
import type { IdSource } from '../id-source.js';
import type { ChatDesk } from '../session/desk/chat-desk.js';
import type { Identity } from '../session/identity.js';
import { EventBatch, type EndOfFollowing, type Subscriber } from '../session/subscriber.js';
import type { Calls } from './calls.js';
import { batchOf } from './event-lines.js';
import { Follower } from './follower.js';
import type { FollowAsked, Renewal } from './guests.js';
import type { Routes } from './routes.js';

export interface FollowingsNeeds {
  readonly nodeId: string;
  readonly calls: Calls;
  readonly routes: Pick<Routes, 'run'>;
  readonly local: Pick<ChatDesk, 'subscribe'>;
  readonly whenSafe: () => Promise<void> | null;
  readonly clock: Clock;
  readonly ids: IdSource;
}

interface Kept {
  readonly follower: Follower;
  /** Ends it where it is followed now. */
  leave: () => void;
}

/** How long after a failure it is tried again to follow a chat that has moved. */
const RETRY_MS = 200;
/** An owner that is dead, and not known to be so yet, holds up nobody for longer. */
const PATIENCE_MS = 2_000;

/** The followings of the connections of this node, of chats that any node owns. */
export class Followings {
  readonly #byChat = new Map<string, Set<Kept>>();

  constructor(private readonly needs: FollowingsNeeds) {
    const { calls } = needs;
    calls.hearRaw((from, text) => {
      const batch = batchOf(text);
      for (const { follower } of this.#at(batch.chatId, from)) follower.deliver(batch);
    });
    calls.hear<Signal>('signal', (from, signal) => {
      for (const { follower } of this.#at(signal.chatId, from)) follower.signal(signal);
    });
    calls.hear<Presence>('presence', (from, presence) => {
      for (const { follower } of this.#at(presence.chatId, from)) follower.presence(presence);
    });
    calls.hear<{ followId: string; chatId: string; reason: EndOfFollowing }>(
      'ended',
      (from, { followId, chatId, reason }) => {
        const ended = this.#at(chatId, from).find(({ follower }) => follower.followId === followId);
        ended?.follower.ended(reason);
      },
    );
  }

  /** @throws {ChatError} as `ChatDesk.subscribe` */
  async follow(
    identity: Identity,
    args: Args<'chat:subscribe'>,
    subscriber: Subscriber,
  ): Promise<{ result: SubscribeResult; unsubscribe: () => void }> {
    const kept = this.#keep(args.chatId, subscriber);
    try {
      const result = await this.#begin(kept, identity, args);
      const { isAnswered } = kept.follower;
      kept.follower.hasAnswer(result.position);
      // It has moved while the answer was on its way.
      if (!isAnswered && kept.follower.owner === null) void this.#followOn(kept);
      return { result, unsubscribe: () => this.#end(kept) };
    } catch (error) {
      // One that was followed before goes on (SUB-5): who is its owner is found anew.
      if (kept.follower.isAnswered) kept.follower.ended('moved');
      else this.#end(kept);
      throw error;
    }
  }

  /** Identities of followers have changed: settles once those who own what they follow know of it, or are gone. */
  async renewed(chatId: string): Promise<void> {
    const told: Promise<unknown>[] = [];
    for (const { follower } of this.#byChat.get(chatId) ?? []) {
      const { owner, followId, identity } = follower;
      if (owner === null || owner === this.needs.nodeId || follower.told === identity) continue;
      follower.told = identity;
      told.push(this.needs.calls.ask(owner, 'renewed', { chatId, followId, identity } satisfies Renewal));
    }
    // One who is gone has no followers any more: they follow elsewhere, as who they are now.
    await settlesWithin(this.needs.clock, Promise.allSettled(told), PATIENCE_MS);
  }

  /** What this node had said may not have been heard, or is not known to anybody any more: everything there is followed anew. */
  lost(nodeId: string): void {
    for (const all of [...this.#byChat.values()])
      for (const { follower } of [...all]) if (follower.owner === nodeId) follower.ended('moved');
  }

  #keep(chatId: string, subscriber: Subscriber): Kept {
    const all = this.#byChat.get(chatId) ?? new Set();
    this.#byChat.set(chatId, all);
    for (const kept of all) if (kept.follower.isFor(subscriber)) return kept;
    const follower = new Follower(this.needs.ids.id(), chatId, subscriber, ({ isAnswered }) => {
      if (isAnswered) void this.#followOn(kept);
    });
    const kept: Kept = { follower, leave: () => undefined };
    all.add(kept);
    return kept;
  }

  #end(kept: Kept): void {
    const { follower } = kept;
    follower.isOver = true;
    kept.leave();
    const all = this.#byChat.get(follower.chatId);
    all?.delete(kept);
    if (all?.size === 0) this.#byChat.delete(follower.chatId);
  }

  async #begin(kept: Kept, identity: Identity, args: Args<'chat:subscribe'>): Promise<SubscribeResult> {
    const result = await this.#ask(kept, identity, args);
    // Its connection has gone meanwhile, or follows no more: only now can it be left.
    if (kept.follower.isOver) kept.leave();
    return result;
  }

  #ask(kept: Kept, identity: Identity, args: Args<'chat:subscribe'>): Promise<SubscribeResult> {
    const { routes, local, calls, nodeId, whenSafe } = this.needs;
    const { follower } = kept;
    const { followId, chatId } = follower;
    return routes.run({
      chatId,
      creates: false,
      repeatable: true,
      here: async () => {
        follower.askAt(nodeId);
        const { result, unsubscribe } = await local.subscribe(identity, args, follower);
        kept.leave = unsubscribe;
        await whenSafe();
        return result;
      },
      at: async (owner) => {
        // Before the answer: events may come before it (SUB-3).
        follower.askAt(owner);
        follower.told = identity;
        kept.leave = () => calls.tell(owner, 'unfollow', { followId });
        const asked: FollowAsked = { followId, identity, args };
        return calls.ask<SubscribeResult>(owner, 'follow', asked);
      },
    });
  }

  /** The chat has another owner: from what was delivered last it is followed there. */
  async #followOn(kept: Kept): Promise<void> {
    const { clock, ids } = this.needs;
    const { follower } = kept;
    while (!follower.isOver && follower.owner === null) {
      const { position } = follower;
      follower.beginMove();
      try {
        const result = await this.#begin(kept, follower.identity, {
          chatId: follower.chatId,
          messageLimit: 1,
          ...(position ? { position } : {}),
        });
        if (result.mode === 'snapshot')
          return follower.hasMissed(result.chat, result.position, { epoch: ids.epoch(), at: isoNow(clock) });
        return follower.endMove(batchOfEvents(follower.chatId, result.events ?? []));
      } catch (error) {
        follower.owner = null;
        if (error instanceof ChatError && !error.retryable) {
          follower.ended('revoked');
          return this.#end(kept);
        }
        await pause(clock, RETRY_MS);
      }
    }
    // Its connection has asked by itself meanwhile: nothing waits any more.
    follower.endMove();
  }

  #at(chatId: string, owner: string): Kept[] {
    return [...(this.#byChat.get(chatId) ?? [])].filter(({ follower }) => follower.owner === owner);
  }
}

const batchOfEvents = (chatId: string, events: readonly ChatEvent[]): EventBatch =>
  new EventBatch(
    chatId,
    events.map((event) => ({
      epoch: event.epoch,
      offset: event.offset,
      type: event.type,
      json: JSON.stringify(event),
    })),
  );
