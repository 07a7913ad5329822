import { describe, expect, test, vi } from 'vitest';
import type { TurnAbort } from '../../../protocol/index.js';
import { systemClock } from '../../../server/clock.js';
import { AgentDirectory } from '../../../server/session/agent-directory.js';
import type { AgentConnection, OfferAnswer } from '../../../server/session/attached-agent.js';
import { Deferred } from '../../../server/session/deferred.js';
import { Frame } from '../../../server/session/frame.js';
import type { FrameRun, Wish } from '../../../server/session/host.js';

const OFFER = { agentId: 'worker', assistants: [{ assistantId: 'bot' }], concurrency: 10 };

function connection(): AgentConnection & { readonly answer: Deferred<OfferAnswer>; readonly aborts: TurnAbort[] } {
  const answer = new Deferred<OfferAnswer>();
  const aborts: TurnAbort[] = [];
  const identity = {
    userId: 'u',
    teamId: null,
    tenantId: null,
    roles: ['agent' as const],
    assistants: null,
    expiresAt: null,
    token: null,
  };
  return {
    identity,
    answer,
    assign: () => answer.promise,
    aborts,
    abort: (abort) => aborts.push(abort),
    goaway: vi.fn(),
  };
}

const wish = (avoid: readonly object[] = []): Wish => ({
  assistantId: 'bot',
  tenantId: null,
  callers: [],
  avoid: new Set(avoid),
  granted: () => undefined,
  unavailable: () => undefined,
});

function frameRun() {
  const place = { stackId: 'stack-1', stackParentId: null, stackDepth: 0, assistantId: 'bot' };
  const refuse = vi.fn<FrameRun['refuse']>();
  const run = {
    frame: new Frame(place, []),
    requestId: 'turn-1',
    attempt: 1,
    callers: [],
    refuse,
  } as unknown as FrameRun;
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

describe('LIF-4, AGT-5: the places of an agent whose home is here', () => {
  function home(concurrency: number) {
    const directory = new AgentDirectory(systemClock, 60_000);
    const agent = directory.attach(connection(), { ...OFFER, concurrency });
    const told: number[] = [];
    directory.onLoad(({ load }) => told.push(load));
    return { directory, agent, told };
  }

  test('AGT-5: other nodes are granted no more than there are, and told of each change and of each refusal', () => {
    const { directory, agent, told } = home(2);
    expect(directory.grant(agent, 'b', 'one k1', [])).toBe(true);
    expect(directory.place(wish())).toBeDefined();
    expect(directory.grant(agent, 'c', 'two k2', [])).toBe(false);
    expect(directory.place(wish())).toBeUndefined();
    directory.heldElsewhere(agent, 'b', 'one k1', false);
    expect(directory.grant(agent, 'c', 'two k2', [])).toBe(true);
    expect(told).toEqual([1, 2, 2, 1, 2]);
  });

  test('AGT-8: a call is granted one beyond them only where the agent runs a frame that waits for it, however far above', () => {
    const { directory, agent } = home(1);
    directory.grant(agent, 'b', 'one k1', []);
    expect(directory.grant(agent, 'b', 'one k2', ['one k0', 'one k1'])).toBe(true);
    expect(directory.grant(agent, 'b', 'one k3', ['one k0'])).toBe(false);
  });

  test('AGT-4: until other nodes have said what it holds there, one that came from another home has no more room than it had', () => {
    const { directory, agent } = home(2);
    directory.told(agent, 2);
    directory.recount(agent);
    expect(directory.place(wish())).toBeUndefined();
    directory.heldElsewhere(agent, 'b', 'one k1', true);
    expect(directory.place(wish())).toBeUndefined();
    directory.counted(agent);
    expect(directory.place(wish())).toBeDefined();
    expect(directory.place(wish())).toBeUndefined();
  });

  test('AGT-5: what it holds at a node that is gone takes no place', () => {
    const { directory, agent } = home(1);
    directory.grant(agent, 'b', 'one k1', []);
    directory.nodeGone('b');
    expect(directory.place(wish())).toBeDefined();
  });
});

describe('LIF-4, AGT-5: an agent whose home is another node', () => {
  test('AGT-5: a frame that finds it full is offered again once its home tells of room, and is aborted by nobody', async () => {
    const { directory, first } = scene();
    const agent = directory.of(first);
    const { run, refuse } = frameRun();
    const held: [string, boolean][] = [];
    directory.onHeld((_agent, frame, isHeld) => held.push([frame, isHeld]));
    const place = directory.place(wish());
    place?.begin(run);
    directory.told(agent, OFFER.concurrency);
    first.answer.resolve('full');
    await vi.waitFor(() => expect(refuse).toHaveBeenCalledWith(null));
    place?.holder.abort('reassigned');
    expect(first.aborts).toEqual([]);
    expect(held).toEqual([]);
    expect(directory.place(wish())).toBeUndefined();
    directory.told(agent, OFFER.concurrency - 1);
    expect(directory.place(wish())).toBeDefined();
  });
});
