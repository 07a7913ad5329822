import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, Message } from '../../../protocol/index.js';
import { clientWith, question, ScriptedChat, told, truth } from './ag-ui-chat.js';

const deed = fc.record({ kind: fc.nat(13), pick: fc.nat(9), text: fc.string({ maxLength: 3, unit: 'grapheme' }) });
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

const TYPES = ['text', 'thinking', 'tool_call', 'table', 'state'] as const;

const propsOf = (type: string, text: string): JsonObject => {
  if (type === 'tool_call') return { tool: 'find', ...(text === '' ? {} : { input: { text } }) };
  return type === 'table' || type === 'state' ? { rows: [{ text }], 'a/b': [1, 2] } : { content: text };
};

/** What an assistant may do next to a chat; nothing where it may not. */
function happen(chat: ScriptedChat, { kind, pick, text }: Deed): void {
  const open = chat.view.messages.filter(({ state }) => state === 'open');
  const message: Message | undefined = open[pick % Math.max(1, open.length)];
  const running = [...chat.view.steps.values()].filter(({ status }) => status === 'running');
  const type = TYPES[pick % TYPES.length]!;
  if (kind <= 2) return void chat.send(type, propsOf(type, text), pick % 3 === 0 ? { assistantId: 'bee' } : {});
  if (kind === 3) return void chat.send(type, propsOf(type, text), { state: 'closed' });
  if (kind === 4)
    return void chat.startStep({ type: pick % 2 === 0 ? 'llm' : 'delegate', metadata: { childStackId: 's' } });
  if (kind === 5) return running.length > 0 ? chat.endStep(running[pick % running.length]!.stepId) : undefined;
  if (!message) return;
  const { messageId } = message;
  const isWords = message.type === 'text' || message.type === 'thinking';
  switch (kind) {
    case 6:
    case 7:
    case 8:
      return isWords && typeof message.props['content'] === 'string' ? chat.append(messageId, `${text}.`) : undefined;
    case 9:
      return chat.close(messageId);
    case 10:
      return chat.emit({ type: 'message.deleted', messageIds: [messageId] });
    case 11:
      return chat.emit({ type: 'message.replaced', messageId, messageType: type, props: propsOf(type, text) });
    case 12:
      return chat.emit({
        type: 'message.merged',
        messageId,
        path: '',
        value: { output: text, [`k${pick}`]: { text } },
      });
    default:
      return chat.emit({ type: 'message.set', messageId, path: isWords ? 'content' : 'input', value: text });
  }
}

/**
 * Thoughts that are taken away stand on with a client that hears of no other thoughts: its reducer keeps them. So they are
 * compared where the chat holds some.
 */
function withoutGhosts<M extends { readonly id: string; readonly role: string }>(
  held: readonly M[],
  chat: ScriptedChat,
) {
  const ids = new Set(truth(chat).map(({ id }) => id));
  return held.filter(({ id, role }) => role !== 'reasoning' || ids.has(id));
}

test('AG-UI: whatever an assistant does, wherever it is cut, the stock client comes to hold what the chat holds', async () => {
  const runs = fc.asyncProperty(fc.array(deed, { maxLength: 14 }), fc.nat(30), async (deeds, at) => {
    const chat = new ScriptedChat();
    for (const one of deeds) happen(chat, one);
    chat.end();
    const cut = at % chat.views.length;
    const whole = clientWith(question);
    await whole.hear(told(chat, 'asks'), 'asks');
    expect(withoutGhosts(whole.messages, chat)).toEqual(truth(chat));
    const twice = clientWith(question);
    await twice.hear(told(chat, 'asks', { until: cut }), 'asks');
    await twice.hear(told(chat, 'joins', { cut, body: twice.body() }), 'joins');
    expect(withoutGhosts(twice.messages, chat)).toEqual(truth(chat));
  });
  // A call whose output is taken back again is open once more.
  const reopened: Deed[] = [
    { kind: 0, pick: 2, text: '' },
    { kind: 12, pick: 0, text: '' },
    { kind: 11, pick: 2, text: '' },
  ];
  await fc.assert(runs, { numRuns: 300, examples: [[reopened, 0]] });
});
