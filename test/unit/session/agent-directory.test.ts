import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../server/clock.js';
import { AgentDirectory } from '../../../server/session/agent-directory.js';
import type { AgentConnection, OfferAnswer } from '../../../server/session/attached-agent.js';
import { Deferred } from '../../../server/session/deferred.js';
import { Frame } from '../../../server/session/frame.js';
import type { FrameRun, Wish } from '../../../server/session/host.js';

const OFFER = { agentId: 'worker', assistants: [{ assistantId: 'bot' }], concurrency: 10 };

function connection(): AgentConnection & { readonly answer: Deferred<OfferAnswer> } {
  const answer = new Deferred<OfferAnswer>();
  const identity = {
    userId: 'u',
    teamId: null,
    tenantId: null,
    roles: ['agent' as const],
    assistants: null,
    expiresAt: null,
    token: null,
  };
  return { identity, answer, assign: () => answer.promise, abort: vi.fn(), goaway: vi.fn() };
}

const wish = (avoid: readonly object[] = []): Wish => ({
  assistantId: 'bot',
  tenantId: null,
  requestId: 'turn-1',
  isCall: false,
  avoid: new Set(avoid),
  granted: () => undefined,
  unavailable: () => undefined,
});

function frameRun() {
  const place = { stackId: 'stack-1', stackParentId: null, stackDepth: 0, assistantId: 'bot' };
  const refuse = vi.fn<FrameRun['refuse']>();
  const run = { frame: new Frame(place, []), requestId: 'turn-1', attempt: 1, refuse } as unknown as FrameRun;
  return { run, refuse };
}

/** A directory with one agent on a connection. */
function scene() {
  const directory = new AgentDirectory(systemClock, 60_000);
  const first = connection();
  directory.attach(first, OFFER);
  return { directory, first };
}

describe('AGT-5: who is offered a frame', () => {
  test('AGT-5: an agent that does not take it is not offered it again on that connection', async () => {
    const { directory, first } = scene();
    const { run, refuse } = frameRun();
    directory.place(wish())?.begin(run);
    first.answer.resolve('refused');
    await vi.waitFor(() => expect(refuse).toHaveBeenCalledWith(first));
    expect(directory.serves(wish([first]))).toBe(false);
    expect(directory.place(wish([first]))).toBeUndefined();
    expect(directory.serves(wish())).toBe(true);
  });

  test('AGT-4, AGT-5: one whose connection went before the frame reached it is offered it again when it is back', async () => {
    const { directory, first } = scene();
    const { run, refuse } = frameRun();
    const place = directory.place(wish());
    directory.disconnected(first);
    place?.begin(run);
    await vi.waitFor(() => expect(refuse).toHaveBeenCalledWith(null));
    directory.attach(connection(), OFFER);
    expect(directory.place(wish())).toBeDefined();
  });

  test('AGT-4, AGT-5: the same where it went with the frame on its way, and came back after the offer had run out', async () => {
    const { directory, first } = scene();
    const { run, refuse } = frameRun();
    directory.place(wish())?.begin(run);
    directory.disconnected(first);
    first.answer.resolve('refused');
    await vi.waitFor(() => expect(refuse).toHaveBeenCalledWith(first));
    directory.attach(connection(), OFFER);
    expect(directory.place(wish([first]))).toBeDefined();
  });

  test('AGT-4: one that is back before the offer has run out holds the frame: it has heard of it by attaching', async () => {
    const { directory, first } = scene();
    const { run, refuse } = frameRun();
    directory.place(wish())?.begin(run);
    directory.disconnected(first);
    expect(directory.attach(connection(), OFFER).runs()).toEqual([run]);
    first.answer.resolve('refused');
    await first.answer.promise;
    await Promise.resolve();
    expect(refuse).not.toHaveBeenCalled();
  });
});
