import { describe, expect, test } from 'vitest';
import { inputOf, isUpToDate, newsOf, runAgentInput, speaksOne, turnMetadata } from '../../../protocol/ag-ui/index.js';

const sent = (...messages: unknown[]) => runAgentInput.parse({ threadId: 't', runId: 'r', messages }).messages;
const user = (id: string, content = id) => ({ id, role: 'user' as const, content });
const assistant = (id: string, content = id) => ({ id, role: 'assistant' as const, content });
const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);

describe('AG-UI: what a client says that is new', () => {
  test('what people said at the end, behind the last that the chat knows or that is an assistant’s', () => {
    const none = new Set<string>();
    expect(ids(newsOf(sent(user('a'), assistant('b'), user('c'), user('d')), none))).toEqual(['c', 'd']);
    expect(ids(newsOf(sent(user('a'), user('b'), user('c')), new Set(['b'])))).toEqual(['c']);
    expect(ids(newsOf(sent(user('a'), { id: 's', role: 'system', content: '' }, user('c')), none))).toEqual(['a', 'c']);
    expect(newsOf(sent(user('a'), assistant('b')), none)).toEqual([]);
    expect(newsOf(sent(user('a')), new Set(['a']))).toEqual([]);
  });

  test('a result of the client is an answer to the message that asked for it', () => {
    const result = { id: 'x', role: 'tool', toolCallId: 'call-message', content: [{ type: 'text', text: 'yes' }] };
    const news = newsOf(sent(assistant('a'), result), new Set());
    expect(inputOf(news)).toEqual([
      { type: 'action_result', props: { messageId: 'call-message', value: 'yes' }, metadata: { agUi: { id: 'x' } } },
    ]);
  });

  test('the turn is given what the client offers, beside its own metadata', () => {
    const offer = { tools: [{ name: 't' }], context: [{ description: 'd', value: 'v' }] };
    const given = { threadId: 't', runId: 'r', messages: [], forwardedProps: { metadata: { a: 1 }, other: true } };
    expect(turnMetadata(runAgentInput.parse({ ...given, ...offer }))).toEqual({ a: 1, agUi: offer });
    expect(turnMetadata(runAgentInput.parse({ ...given, tools: [], context: [] }))).toEqual({ a: 1 });
    expect(turnMetadata(runAgentInput.parse({ ...given, forwardedProps: null }))).toBeNull();
  });

  test('a client speaks 1.0 if it says so', () => {
    const spoken = ['1.0', '1.7', '10.2', '0.9', '', 'newest', undefined].map((protocolVersion) =>
      speaksOne({ protocolVersion }),
    );
    expect(spoken).toEqual([true, true, true, false, false, false, false]);
  });
});

describe('AG-UI: whether a client holds the conversation', () => {
  const messages = [user('a'), assistant('b')];
  const whole = { messages, hasMore: false };

  test('all of it, in order and word by word; its own instructions do not count', () => {
    expect(isUpToDate(sent(user('a'), assistant('b')), whole)).toBe(true);
    expect(isUpToDate(sent({ id: 's', role: 'system', content: 'x' }, user('a'), assistant('b')), whole)).toBe(true);
    expect(isUpToDate(sent(user('a')), whole)).toBe(false);
    expect(isUpToDate(sent(user('a'), assistant('b', 'half')), whole)).toBe(false);
    expect(isUpToDate(sent(assistant('b'), user('a')), whole)).toBe(false);
    expect(isUpToDate(sent(user('z'), user('a'), assistant('b')), whole)).toBe(false);
  });

  test('of a conversation that is longer than what is compared, it may hold more', () => {
    const newest = { messages, hasMore: true };
    expect(isUpToDate(sent(user('z'), user('a'), assistant('b')), newest)).toBe(true);
    expect(isUpToDate(sent(user('a'), assistant('b'), user('z')), newest)).toBe(false);
  });

  test('a call by its arguments, whatever else stands beside it', () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
    const held = { messages: [{ id: 'm', role: 'assistant' as const, toolCalls: [call] }], hasMore: false };
    const said = (args: string) => ({
      id: 'm',
      role: 'assistant',
      toolCalls: [{ function: { arguments: args, name: 'f' }, id: 'c', type: 'function', metadata: { x: 1 } }],
    });
    expect(isUpToDate(sent(said('{}')), held)).toBe(true);
    expect(isUpToDate(sent(said('{"a":1}')), held)).toBe(false);
    expect(isUpToDate(sent({ ...said('{}'), toolCalls: [null] }), held)).toBe(false);
  });
});
