import { createChatClient, type ChatClient, type Hello } from '../../index.js';
import { Held, Listeners, type Store } from '../../store.js';
import type { Credentials } from '../../token.js';
import { browserWake } from '../../wake.js';
import type { Shelf } from './storage.js';
import { TabToken } from './tab-token.js';
import { tokenClaims } from './token-claims.js';

/** Who the person at this page says to be. */
export type Who =
  /** By a name of one's own choice: to a server without authentication. */
  | { readonly by: 'name'; readonly name: string }
  /** By a token. When it ends, in milliseconds since 1970, where it says so. */
  | { readonly by: 'token'; readonly token: string; readonly expiresAt: number | null };

export interface SessionState {
  readonly who: Who;
  /** Another one after each change of `who`, so that nothing of the person before is shown to the next. */
  readonly client: ChatClient;
}

export interface SessionNeeds {
  /** Where the server is. */
  readonly url: string;
  /** Where the name is kept. */
  readonly kept: Shelf;
  /** Where the token is kept: no longer than the tab. */
  readonly ofTab: Shelf;
}

/** The server's own default, so that what one began on the command line is here. */
const DEFAULT_NAME = 'local';
/** Whoever names itself is of one team, so that a chat can be shared with those who do so too. */
const TEAM = 'local';

/** The person at this page: who that is, and the client that speaks for them. */
export class Session {
  readonly #state: Held<SessionState>;
  readonly #hello = new Held<Hello | null>(null);
  readonly #wakers = new Listeners();
  readonly #token: TabToken;

  constructor(private readonly needs: SessionNeeds) {
    this.#token = new TabToken(needs.ofTab);
    const token = needs.ofTab.get('token');
    const name = needs.kept.get('name') ?? DEFAULT_NAME;
    this.#state = new Held(this.#open(token === null ? { by: 'name', name } : whoOf(token)));
  }

  get state(): Store<SessionState> {
    return this.#state;
  }

  /** What the server said last of itself and of the caller; null before it has. It outlives its connection. */
  get hello(): Store<Hello | null> {
    return this.#hello;
  }

  /** How another connection than the client's says who the person is. */
  credentials(): Credentials {
    return credentialsOf(this.#state.getSnapshot().who, new TabToken(this.needs.ofTab));
  }

  /** Goes on as somebody of this name. */
  rename(name: string): void {
    this.needs.kept.set('name', name);
    this.needs.ofTab.set('token', null);
    this.#replace({ by: 'name', name });
  }

  /** Goes on with this token: over the same connection where it is of the same person. */
  async giveToken(token: string): Promise<void> {
    const { who, client } = this.#state.getSnapshot();
    const next = whoOf(token);
    this.needs.ofTab.set('token', token);
    const isOpen = client.connection.getSnapshot().status === 'open';
    if (who.by !== 'token' || !isOpen) return this.#replace(next);
    try {
      await client.call('auth:refresh', { token });
      this.#token.given(token);
      this.#state.set({ client, who: next });
    } catch {
      // Another person's, or none: the handshake says which.
      this.#replace(next);
    }
  }

  /** Forgets the token. */
  leave(): void {
    this.rename(this.needs.kept.get('name') ?? DEFAULT_NAME);
  }

  /** Does not wait for the time of the next attempt to connect. */
  retryNow(): void {
    this.#wakers.notify();
  }

  #replace(who: Who): void {
    const before = this.#state.getSnapshot().client;
    this.#hello.set(null);
    this.#state.set(this.#open(who));
    before.close();
  }

  #open(who: Who): SessionState {
    const client = createChatClient({
      url: this.needs.url,
      ...credentialsOf(who, this.#token),
      wake: (wake) => {
        const ends = [browserWake(wake), this.#wakers.add(wake)];
        return () => ends.forEach((end) => end());
      },
    });
    client.connection.subscribe(() => {
      const state = client.connection.getSnapshot();
      const isCurrent = this.#state.getSnapshot().client === client;
      if (isCurrent && state.status === 'open' && state.hello) this.#hello.set(state.hello);
    });
    return { who, client };
  }
}

const whoOf = (token: string): Who => ({ by: 'token', token, expiresAt: tokenClaims(token).expiresAt });

const credentialsOf = (who: Who, { source }: TabToken) =>
  who.by === 'name' ? { auth: { userId: who.name, teamId: TEAM } } : { token: source };
