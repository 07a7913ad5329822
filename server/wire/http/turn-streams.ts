import type { Request, Response } from 'express';
import { ChatError } from '../../../protocol/index.js';
import type { Revocations } from '../../session/revocations.js';
import type { ConnectionLimit } from '../connection-limit.js';
import type { Callers } from './callers.js';
import { TurnStream, type TurnFollowed, type TurnForm, type TurnStreamNeeds } from './turn-stream.js';

/** Messages that a frontend is shown of a conversation: as much as a page holds. */
export const SNAPSHOT_MESSAGES = 200;

export interface TurnStreamsNeeds extends TurnStreamNeeds {
  readonly callers: Callers;
  readonly revocations: Pick<Revocations, 'watch'>;
  readonly connectionLimit: Pick<ConnectionLimit, 'take'>;
}

/**
 * The responses that tell turns in protocols of frontends. A route starts or finds its turn through Dispatch, and hands the
 * response over with the form in which it is told:
 *
 *     await streams.follow(request, response, { chatId, messageLimit: 200 }, form);
 *
 * Each counts as a connection of its user, ends with their token and with the access to the chat, and is bounded (SUB-7).
 */
export interface TurnStreams {
  /**
   * Resolves once the response has begun.
   *
   * @throws {ChatError} `draining`, `too_many_connections`, as `chat:subscribe`, and as the form's `begin`: nothing was sent
   */
  follow(request: Request, response: Response, followed: TurnFollowed, form: TurnForm): Promise<void>;
  /** What waits for the readers of all open streams. */
  readonly waitingBytes: number;
  /** LIF-1: ends every open stream with its form's last words, and opens no more. */
  endAll(): void;
}

export function createTurnStreams(needs: TurnStreamsNeeds): TurnStreams {
  const open = new Set<TurnStream>();
  let isEnding = false;
  return {
    async follow(request, response, followed, form) {
      if (isEnding) throw new ChatError('draining');
      const caller = needs.callers.of(request);
      const release = needs.connectionLimit.take(caller.identity);
      const stream = new TurnStream(caller, response, followed, form, needs);
      const unwatch = needs.revocations.watch(stream);
      open.add(stream);
      stream.closed(() => {
        open.delete(stream);
        unwatch();
        release();
      });
      try {
        await stream.begin();
      } catch (error) {
        stream.abandon();
        throw error;
      }
    },
    get waitingBytes() {
      return [...open].reduce((bytes, stream) => bytes + stream.waitingBytes, 0);
    },
    endAll() {
      isEnding = true;
      for (const stream of open) stream.end(new ChatError('draining'));
    },
  };
}
