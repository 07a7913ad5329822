import { vi } from 'vitest';
import { FrameSink, type SinkBounds } from '../../../client/agent/frame-sink.js';
import { DEFAULT_BACKOFF } from '../../../client/backoff.js';
import { PendingRequests } from '../../../client/pending-requests.js';
import { DEFAULT_LIMITS, type ChatError, type Limits, type OpInput } from '../../../protocol/index.js';
import { FakeClock } from './fake-clock.js';
import { FakeIds, FakeLink } from './fake-transport.js';

export const frame = { requestId: 'turn-1', attempt: 1, stackId: 'stack-1' };
export const append = (text: string, messageId = 'message-1'): OpInput => ({ op: 'append', messageId, text });
/** A sink on a connection that the test plays. */
export interface Line {
  readonly sink: FrameSink;
  readonly clock: FakeClock;
  readonly ended: ReturnType<typeof vi.fn>;
  link: FakeLink;
  /** Loses the connection and makes a new one, without attaching. */
  readonly relink: () => FakeLink;
}

export function line(bounds: Partial<SinkBounds> = {}, limits: Partial<Limits> = {}): Line {
  const clock = new FakeClock();
  const requests = new PendingRequests(clock);
  const ended = vi.fn();
  const made: Line = {
    clock,
    ended,
    link: newLink(),
    relink: () => {
      made.link.drop();
      requests.settleAll('lost');
      made.link = newLink();
      return made.link;
    },
    sink: new FrameSink({
      frame,
      request: (command, args, timeoutMs, done) => requests.send(made.link, command, args, timeoutMs, done),
      limits: () => ({ ...DEFAULT_LIMITS, ...limits }),
      refresh: () => undefined,
      clock,
      ids: new FakeIds(),
      backoff: DEFAULT_BACKOFF,
      bounds: { flushMs: 5, maxBufferedOps: 1_024, maxBufferedBytes: 4_194_304, ackTimeoutMs: 30_000, ...bounds },
      ended,
    }),
  };
  return made;
}

function newLink(): FakeLink {
  const link = new FakeLink(
    {},
    { opened: () => undefined, refused: () => undefined, closed: () => undefined, received: () => undefined },
  );
  link.state = 'open';
  return link;
}

/** What became of a push: `applied`, or the code of its refusal. */
export const fate = (promise: Promise<void>): Promise<string> =>
  promise.then(
    () => 'applied',
    (error: ChatError) => error.code,
  );
