import { ChatError, type Args, type Presence, type Signal, type SubscribeResult } from '../../protocol/index.js';
import type { ChatDesk } from '../session/desk/chat-desk.js';
import type { Identity } from '../session/identity.js';
import type { EndOfFollowing, EventBatch, Subscriber } from '../session/subscriber.js';
import type { Calls } from './calls.js';
import { linesOf } from './event-lines.js';
import type { Ownership } from './ownership.js';

/** What a node is asked to follow, for one of the connections of another. */
export interface FollowAsked {
  readonly followId: string;
  readonly identity: Identity;
  readonly args: Args<'chat:subscribe'>;
}

/** A follower is somebody else now, or may do other things. */
export interface Renewal {
  readonly chatId: string;
  readonly followId: string;
  readonly identity: Identity;
}

/**
 * Followers at other nodes of chats that this node owns. What all of a chat are told goes to their node once, and is handed on
 * there.
 */
export class Guests {
  readonly #nodes = new Map<string, GuestNode>();

  constructor(
    private readonly calls: Calls,
    private readonly desk: Pick<ChatDesk, 'subscribe' | 'renewed'>,
    private readonly ownership: Pick<Ownership, 'owns' | 'mustOwn'>,
    private readonly whenSafe: () => Promise<void> | null,
  ) {
    calls.serve<FollowAsked>('follow', (from, asked) => this.#follow(from, asked));
    calls.hear<{ followId: string }>('unfollow', (from, { followId }) => this.#nodes.get(from)?.unfollow(followId));
    calls.serve<Renewal>('renewed', async (from, { chatId, followId, identity }) => {
      this.#nodes.get(from)?.renew(followId, identity);
      // Whose right has gone is told so before the answer.
      await desk.renewed([chatId], this);
    });
  }

  /** The node is dead, or does not know any more what it follows. */
  gone(nodeId: string, reason?: EndOfFollowing): void {
    this.#nodes.get(nodeId)?.end(reason);
    this.#nodes.delete(nodeId);
  }

  async #follow(from: string, { followId, identity, args }: FollowAsked): Promise<SubscribeResult> {
    const node = this.#nodes.get(from) ?? new GuestNode(from, this.calls);
    this.#nodes.set(from, node);
    const guest = node.guest(followId, args.chatId, identity);
    const { result, unsubscribe } = await this.#subscribe(identity, args, guest).catch((error: unknown) => {
      node.refused(followId, guest);
      throw error;
    });
    if (!node.keep(followId, guest, unsubscribe)) throw new ChatError('storage_unavailable');
    await this.whenSafe();
    return result;
  }

  async #subscribe(identity: Identity, args: Args<'chat:subscribe'>, guest: Guest) {
    if (!this.ownership.owns(args.chatId)) await this.ownership.mustOwn(args.chatId);
    return this.desk.subscribe(identity, args, guest);
  }
}

/** What is to be done when one ends whose following has not begun. */
const NOT_YET = (): void => undefined;

/** Another node, as the followers that it has here. */
class GuestNode {
  /** From when they are asked for: one that is ended meanwhile must not be kept when its answer is there. */
  readonly #guests = new Map<string, { readonly guest: Guest; readonly unsubscribe: () => void }>();
  /** What was sent last: a session hands the same to one follower after another. */
  #last: object | null = null;

  constructor(
    readonly nodeId: string,
    private readonly calls: Calls,
  ) {}

  /** Subscribing again is the same following (SUB-5), from another position. */
  guest(followId: string, chatId: string, identity: Identity): Guest {
    const known = this.#guests.get(followId)?.guest;
    if (known) return known;
    const guest = new Guest(followId, chatId, identity, this);
    this.#guests.set(followId, { guest, unsubscribe: NOT_YET });
    return guest;
  }

  /** @returns false where it was ended meanwhile */
  keep(followId: string, guest: Guest, unsubscribe: () => void): boolean {
    const isWanted = this.#guests.get(followId)?.guest === guest;
    if (isWanted) this.#guests.set(followId, { guest, unsubscribe });
    else unsubscribe();
    return isWanted;
  }

  /** One that follows from an earlier asking goes on. */
  refused(followId: string, guest: Guest): void {
    const kept = this.#guests.get(followId);
    if (kept?.guest === guest && kept.unsubscribe === NOT_YET) this.#guests.delete(followId);
  }

  unfollow(followId: string): void {
    this.#guests.get(followId)?.unsubscribe();
    this.#guests.delete(followId);
  }

  renew(followId: string, identity: Identity): void {
    const kept = this.#guests.get(followId);
    if (kept) kept.guest.identity = identity;
  }

  end(reason?: EndOfFollowing): void {
    for (const { guest, unsubscribe } of this.#guests.values()) {
      unsubscribe();
      if (reason) guest.ended(reason);
    }
    this.#guests.clear();
  }

  events(batch: EventBatch): void {
    if (!this.#isLast(batch)) this.calls.raw(this.nodeId, linesOf(batch));
  }

  signal(signal: Signal): void {
    if (!this.#isLast(signal)) this.calls.tell(this.nodeId, 'signal', signal);
  }

  presence(presence: Presence): void {
    if (!this.#isLast(presence)) this.calls.tell(this.nodeId, 'presence', presence);
  }

  ended(followId: string, chatId: string, reason: EndOfFollowing): void {
    this.#guests.delete(followId);
    this.calls.tell(this.nodeId, 'ended', { followId, chatId, reason });
  }

  #isLast(sent: object): boolean {
    if (this.#last === sent) return true;
    this.#last = sent;
    return false;
  }
}

class Guest implements Subscriber {
  constructor(
    private readonly followId: string,
    private readonly chatId: string,
    public identity: Identity,
    private readonly node: GuestNode,
  ) {}

  deliver(batch: EventBatch): void {
    this.node.events(batch);
  }

  signal(signal: Signal): void {
    this.node.signal(signal);
  }

  presence(presence: Presence): void {
    this.node.presence(presence);
  }

  ended(reason: EndOfFollowing): void {
    this.node.ended(this.followId, this.chatId, reason);
  }
}
