import { expect } from 'vitest';
import { isEnded, type ChatEvent } from '../../protocol/index.js';

/** Where an attempt of a turn stands. */
type Phase = 'queued' | 'started' | 'ended';

/**
 * C57, TRN-6: the grammar of a chat's events from its beginning. Each attempt is queued, then perhaps started, then has
 * messages and steps, then exactly one end, and nothing after it. A message is created before it changes, closed once,
 * before its attempt ends. Errors say a code and a sentence, and no more.
 */
export function expectGrammar(events: readonly ChatEvent[]): void {
  const phases = new Map<string, Phase>();
  const attempts = new Map<string, number>();
  const states = new Map<string, 'open' | 'closed'>();
  let isDeleted = false;
  for (const [index, event] of events.entries()) {
    const what = `event ${index}: ${JSON.stringify(event).slice(0, 200)}`;
    expect(isDeleted, `nothing after chat.deleted: ${what}`).toBe(false);
    if (index > 0) expect([event.epoch, event.offset], what).toEqual([events[0]!.epoch, events[index - 1]!.offset + 1]);
    const phase = event.requestId === undefined ? undefined : phases.get(event.requestId);
    switch (event.type) {
      case 'turn.queued':
        expect([undefined, 'ended'], what).toContain(phase);
        expect(event.turn.attempt, what).toBe((attempts.get(event.turn.requestId) ?? 0) + 1);
        attempts.set(event.turn.requestId, event.turn.attempt);
        phases.set(event.turn.requestId, 'queued');
        break;
      case 'turn.started':
        expect(phase, what).toBe('queued');
        expect(event.turn.status, what).toBe('running');
        phases.set(event.turn.requestId, 'started');
        break;
      case 'turn.ended': {
        const { turn } = event;
        expect(['queued', 'started'], what).toContain(phase);
        expect(isEnded(turn.status), what).toBe(true);
        expect(turn.stopReason === null, what).toBe(turn.status === 'completed');
        expect(turn.endedAt, what).not.toBeNull();
        if (turn.error) expect(Object.keys(turn.error).sort(), what).toEqual(['code', 'message']);
        expect(JSON.stringify(turn), what).not.toMatch(/\n {4}at |node_modules/);
        phases.set(turn.requestId, 'ended');
        break;
      }
      case 'message.created': {
        const { message } = event;
        const isInput = message.role === 'user' && message.state === 'closed';
        expect(phase, what).toBe(isInput ? 'queued' : 'started');
        expect(states.has(message.messageId), what).toBe(false);
        states.set(message.messageId, message.state);
        break;
      }
      case 'message.appended':
      case 'message.replaced':
      case 'message.merged':
      case 'message.set':
      case 'message.closed':
        expect(phase, what).toBe('started');
        expect(states.get(event.messageId), what).toBe('open');
        if (event.type === 'message.closed') states.set(event.messageId, 'closed');
        break;
      case 'step.started':
      case 'step.ended':
        expect(phase, what).toBe('started');
        break;
      case 'message.updated':
        expect(states.get(event.message.messageId), what).toBe('closed');
        break;
      case 'message.deleted':
        for (const messageId of event.messageIds) expect(states.delete(messageId), what).toBe(true);
        break;
      case 'chat.deleted':
        isDeleted = true;
        break;
      case 'turn.persisted':
        expect(phase, what).toBe('ended');
        break;
      case 'chat.updated':
        break;
    }
  }
  expect(
    [...phases].filter(([, phase]) => phase !== 'ended'),
    'turns without an end',
  ).toEqual([]);
  expect(
    [...states].filter(([, state]) => state === 'open'),
    'messages left open',
  ).toEqual([]);
}
