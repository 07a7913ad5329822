import type { PresentUser } from '../../protocol/index.js';
import type { Clock, Timer } from '../clock.js';
import type { Identity } from './identity.js';
import type { Subscriber } from './subscriber.js';

/** Changes within this time are told together: a crowd that joins is not told of each member one by one. */
const SETTLE_MS = 50;

/** Who follows a chat and who is typing in it (SUB-8). */
export class PresenceBoard {
  readonly #followers = new Set<Subscriber>();
  readonly #typing = new Map<object, Identity>();
  /** The list as everybody knows it; null where some were given another one. */
  #told: string | null = '[]';
  #timer: Timer | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly tell: (users: PresentUser[]) => void,
  ) {}

  join(follower: Subscriber): void {
    this.#followers.add(follower);
    this.#changed();
  }

  leave(follower: Subscriber): void {
    this.#followers.delete(follower);
    this.#changed();
  }

  /** `typist` names the connection: two tabs of one user type apart. */
  type(typist: object, identity: Identity): void {
    this.#typing.set(typist, identity);
    this.#changed();
  }

  stopTyping(typist: object): void {
    if (this.#typing.delete(typist)) this.#changed();
  }

  /** Ends the typing of those who may talk no more (ACC-4). */
  silence(mayTalk: (identity: Identity) => boolean): void {
    for (const [typist, identity] of this.#typing) if (!mayTalk(identity)) this.stopTyping(typist);
  }

  /**
   * The list for one who begins to follow. Where it is another than was told last, a change is under way: that is told
   * in any case then, also where it comes out as the list was before.
   */
  handOut(): PresentUser[] {
    const users = this.#users();
    if (JSON.stringify(users) !== this.#told) this.#told = null;
    return users;
  }

  /** Every user once, in the order of joining. */
  #users(): PresentUser[] {
    const typing = new Set([...this.#typing.values()].map(({ userId }) => userId));
    const ids = new Set([...[...this.#followers].map((follower) => follower.identity.userId), ...typing]);
    return [...ids].map((userId) => ({ userId, typing: typing.has(userId) }));
  }

  #changed(): void {
    this.#timer ??= this.clock.after(SETTLE_MS, () => {
      this.#timer = null;
      const users = this.#users();
      const text = JSON.stringify(users);
      if (text === this.#told) return;
      this.#told = text;
      this.tell(users);
    });
  }
}
