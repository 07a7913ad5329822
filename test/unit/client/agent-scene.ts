import {
  attachAgent,
  defineAssistant,
  type Agent,
  type AgentOptions,
  type Assistant,
} from '../../../client/agent/index.js';
import type { Assignment } from '../../../protocol/index.js';
import { FakeClock } from './fake-clock.js';
import { FakeIds, FakeTransport, type FakeLink } from './fake-transport.js';
import { chatRow, messageRow, turnRow } from './rows.js';

export interface AgentScene {
  readonly agent: Agent;
  readonly clock: FakeClock;
  readonly ids: FakeIds;
  readonly network: FakeTransport;
}

/** An agent whose assistant `bot` runs `run`, over a network and a clock that the test plays. */
export function agentScene(run: Assistant['run'], options: Partial<AgentOptions> = {}): AgentScene {
  const clock = new FakeClock();
  const ids = new FakeIds();
  const network = new FakeTransport();
  const assistants = [defineAssistant({ assistantId: 'bot', run })];
  return {
    agent: attachAgent({ transport: network, clock, ids, agentId: 'agent-1', assistants, ...options }),
    clock,
    ids,
    network,
  };
}

export interface HeldBefore {
  readonly requestId: string;
  readonly attempt: number;
  readonly stackId: string;
  readonly lastSeq: number;
}

/** Connects and attaches. */
export async function attach({ network }: AgentScene, assigned: readonly HeldBefore[] = []): Promise<FakeLink> {
  const link = (await network.next()).opened();
  link.last('agent:attach').ok({ assigned });
  return link;
}

/** The same, after the connection was lost. */
export async function reattach(scene: AgentScene, assigned: readonly HeldBefore[] = []): Promise<FakeLink> {
  scene.network.link.drop();
  scene.clock.advance(250);
  return attach(scene, assigned);
}

export const STACK = 'stack-of-the-root';

export function assigned(requestId: string, change: Partial<Assignment> = {}): Assignment {
  return {
    turn: turnRow(requestId, { assistantId: 'bot' }),
    chat: chatRow(),
    stackId: STACK,
    stackParentId: null,
    stackDepth: 0,
    input: [messageRow(1, { role: 'user', requestId })],
    history: [],
    space: {},
    resume: null,
    ...change,
  };
}

export const held = (requestId: string, lastSeq: number): HeldBefore => ({
  requestId,
  attempt: 1,
  stackId: STACK,
  lastSeq,
});
