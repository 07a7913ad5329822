import { Router, type Request, type Response } from 'express';
import { ChatError, commands, parsePosition } from '../../../protocol/index.js';
import type { Clock } from '../../clock.js';
import type { Log } from '../../log.js';
import type { Metrics } from '../../metrics.js';
import type { Revocations } from '../../session/revocations.js';
import type { ConnectionLimit } from '../connection-limit.js';
import type { Dispatch } from '../dispatch.js';
import { queryShape, readQuery } from './arguments.js';
import type { Callers } from './callers.js';
import { answerOtherMethods } from './errors.js';
import { EventStream } from './event-stream.js';

export const EVENTS_PATH = '/v1/chats/:chatId/events';

const query = queryShape(commands['chat:subscribe'], EVENTS_PATH);

export interface EventStreamsNeeds {
  readonly dispatch: Dispatch;
  readonly callers: Callers;
  readonly revocations: Pick<Revocations, 'watch'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'connections'>;
  readonly log: Log;
  readonly maxOutboxBytes: number;
  readonly connectionLimit: Pick<ConnectionLimit, 'take'>;
}

/** The route of `GET /v1/chats/:chatId/events` (section 8). */
export interface EventStreams {
  readonly router: Router;
  /** What waits for the readers of all open streams. */
  readonly waitingBytes: number;
  /** Ends every open stream once what waits for it is sent, at the latest after 2 s, and opens no more. */
  endAll(): void;
}

export function createEventStreams(needs: EventStreamsNeeds): EventStreams {
  const open = new Set<EventStream>();
  let isEnding = false;

  async function follow(request: Request, response: Response): Promise<void> {
    if (isEnding) throw new ChatError('draining');
    const caller = needs.callers.of(request);
    const args = subscribeArguments(request);
    const release = needs.connectionLimit.take(caller.identity);
    const stream = new EventStream(caller.identity, response, needs);
    const unwatch = needs.revocations.watch(stream);
    open.add(stream);
    stream.closed(() => {
      open.delete(stream);
      unwatch();
      release();
    });
    try {
      stream.begin(await needs.dispatch.subscribe(caller, args, stream));
    } catch (error) {
      stream.abandon();
      throw error;
    }
  }

  const router = Router({ caseSensitive: true });
  // A HEAD would follow the chat and show nothing of it.
  router.head(EVENTS_PATH, answerOtherMethods(['GET']));
  router.get(EVENTS_PATH, follow);
  router.all(EVENTS_PATH, answerOtherMethods(['GET']));
  return {
    router,
    get waitingBytes() {
      return [...open].reduce((bytes, stream) => bytes + stream.waitingBytes, 0);
    },
    endAll() {
      isEnding = true;
      for (const stream of open) stream.ended();
    },
  };
}

/**
 * `Last-Event-ID` is newer than a position in the address, which stays as it was when a browser connects again. One that
 * cannot be read (another server's) counts for none: a client may always be given a snapshot (SUB-2).
 *
 * @throws {ChatError} `bad_request` for a position in the address that is none
 */
function subscribeArguments(request: Request): Record<string, unknown> {
  const { position: text, ...given } = readQuery(request, query);
  const asked = typeof text === 'string' ? parsePosition(text) : undefined;
  if (asked === null)
    throw new ChatError('bad_request', 'position: expected <epoch>:<offset>', { details: { path: 'position' } });
  const position = parsePosition(request.get('last-event-id') ?? '') ?? asked;
  return { ...given, ...(position ? { position } : {}), ...request.params };
}
