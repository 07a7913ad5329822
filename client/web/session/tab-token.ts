import { ChatError } from '../../index.js';
import type { TokenRequest } from '../../token.js';
import type { Shelf } from './storage.js';

/** The token of the tab, as one connection is given it. */
export class TabToken {
  #given: string | null = null;

  constructor(private readonly ofTab: Shelf) {}

  /** @throws {ChatError} `unauthenticated`: there is none, or the server has refused it. Then the person is asked for another. */
  readonly source = ({ refused }: TokenRequest): string => {
    const token = this.ofTab.get('token');
    if (token === null || (refused && token === this.#given)) throw new ChatError('unauthenticated', refused?.message);
    this.#given = token;
    return token;
  };

  /** To be called when the connection was given it otherwise. */
  given(token: string): void {
    this.#given = token;
  }
}
