import type { Turn } from '../../../protocol/index.js';
import { FollowedAnswer, uiMessagesOf, type UiChunk, type UiMajor } from '../../../protocol/ai-sdk/index.js';
import { Script } from './ai-sdk-script.js';

/** Each script is one turn. What the AI SDK's own clients make of it is compared with the history, whenever they join. */
export const SCRIPTS: Readonly<Record<string, (script: Script) => unknown>> = {
  'a text, word by word': (script) => {
    const text = script.send('text', { content: '' });
    for (const word of ['Hel', 'lo ', 'world']) script.append(text, word);
    script.end(text);
    script.over();
  },
  'thoughts before a text': (script) => {
    const thoughts = script.send('thinking', { content: 'Let me ' });
    script.append(thoughts, 'see');
    script.end(thoughts);
    script.say('text', { content: 'Done.' });
    script.over();
  },
  'two texts that stream at once': (script) => {
    const [left, right] = [script.send('text', { content: '' }), script.send('text', { content: '' })];
    for (const word of ['a', 'b', 'c']) {
      script.append(left, word);
      script.append(right, word.toUpperCase());
    }
    script.end(left);
    script.append(right, '!');
    script.over();
  },
  'tools, and what the model says of them': (script) => {
    script.say('text', { content: 'Looking.' });
    const call = script.send('tool_call', {
      toolCallId: 'a',
      tool: 'weather',
      input: { city: 'Oslo' },
      state: 'running',
    });
    const other = script.send('tool_call', { toolCallId: 'b', tool: 'time', input: {}, state: 'running' });
    script.set(call, 'output', { progress: 1 });
    script.merge(call, { state: 'completed', output: { degrees: 3 } });
    script.end(call);
    script.merge(other, { state: 'failed', error: 'no clock' });
    script.end(other);
    script.say('text', { content: 'Three degrees.' });
    script.over();
  },
  'a tool whose input is written': (script) => {
    const call = script.send('tool_call', { toolCallId: 'a', tool: 'weather', inputText: '', state: 'running' });
    script.append(call, '{"city":', 'inputText');
    script.append(call, '"Oslo"}', 'inputText');
    script.replace(call, 'tool_call', { toolCallId: 'a', tool: 'weather', input: { city: 'Oslo' }, state: 'running' });
    script.merge(call, { state: 'completed', output: 3 });
    script.over();
  },
  'tools that are cut off, one while its input is written': (script) => {
    const call = script.send('tool_call', { toolCallId: 'a', tool: 'one', input: {}, state: 'running' });
    const written = script.send('tool_call', { toolCallId: 'b', tool: 'two', inputText: '{"ci', state: 'running' });
    script.merge(call, { state: 'interrupted' });
    script.merge(written, { state: 'interrupted' });
    script.over({ status: 'interrupted', stopReason: 'stopped' });
  },
  'dynamic tools, and those that a provider executes': (script) => {
    const dynamic = { toolCallId: 'a', tool: 'mcp', input: { q: 1 }, dynamic: true };
    const call = script.send('tool_call', { ...dynamic, state: 'running' });
    script.merge(call, { state: 'completed', output: [1] });
    script.say('tool_call', {
      toolCallId: 'b',
      tool: 'search',
      input: {},
      providerExecuted: true,
      state: 'failed',
      error: { message: 'x' },
    });
    const cut = script.send('tool_call', {
      toolCallId: 'c',
      tool: 'mcp',
      inputText: '{',
      dynamic: true,
      state: 'running',
    });
    script.merge(cut, { state: 'interrupted' });
    script.over();
  },
  'the same tool call id in a later round': (script) => {
    const first = script.send('tool_call', { toolCallId: '0', tool: 'a', input: {}, state: 'running' });
    script.merge(first, { state: 'completed', output: 1 });
    script.say('text', { content: 'again' });
    const second = script.send('tool_call', { toolCallId: '0', tool: 'a', input: {}, state: 'running' });
    script.merge(second, { state: 'completed', output: 2 });
    script.over();
  },
  'images, files and sources': (script) => {
    script.say('image', { url: 'https://example.com/cat.png?x=1', alt: 'A cat', caption: 'Mine' });
    script.say('file', { url: '/files/a.pdf', filename: 'a.pdf', size: 3 });
    script.say('image', { url: 'data:image/gif;base64,R0lG' });
    script.say('audio', { url: 'https://example.com/a' });
    script.say('video', { url: 'https://example.com/a', mediaType: 'video/mp4' });
    script.say('source', { url: 'https://example.com', title: 'Example' });
    script.say('source', { sourceId: 's', mediaType: 'application/pdf', title: 'Paper', filename: 'p.pdf' });
    script.over();
  },
  'what is no link is data': (script) => {
    script.say('image', { url: 'javascript:alert(1)' });
    script.say('file', { filename: 'no url' });
    script.say('source', { title: 'nowhere' });
    script.say('tool_call', { input: 'of no tool' });
    script.over();
  },
  'data that changes': (script) => {
    const table = script.send('table', { rows: [{ done: false }] });
    script.set(table, 'rows.0.done', true);
    script.merge(table, { caption: 'All' });
    script.append(table, ' done', 'caption');
    script.say('error', { message: 'Not so bad', code: 'x' });
    script.say('action', { buttons: [{ label: 'Yes' }] });
    script.over();
  },
  'loading, which becomes the text': (script) => {
    const loading = script.send('loading', { message: 'Wait', done: false });
    script.merge(loading, { message: 'Wait more' });
    script.replace(loading, 'text', { content: 'Here' });
    script.append(loading, ' it is');
    script.over();
  },
  'loading before others, which becomes a text late': (script) => {
    const loading = script.send('loading', { message: 'Wait', done: false });
    script.say('text', { content: 'Meanwhile' });
    script.replace(loading, 'text', { content: 'First' });
    script.over();
  },
  'a model that is asked again: another text in the place of the first': (script) => {
    const text = script.send('text', { content: 'I think th' });
    script.replace(text, 'text', { content: 'Sorry: ' });
    script.append(text, 'here.');
    script.over();
  },
  'asked again after tools, with thoughts this time': (script) => {
    script.say('text', { content: 'Looking.' });
    const call = script.send('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'running' });
    script.merge(call, { state: 'completed', output: 1 });
    script.end(call);
    const text = script.send('text', { content: 'It is' });
    script.replace(text, 'thinking', { content: 'Hm.' });
    script.say('text', { content: 'One.' });
    script.over();
  },
  'resumed: what stood is replaced when the new run speaks': (script) => {
    const stood = script.say('text', { content: 'Half an ans' });
    const call = script.say('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'interrupted' });
    script.remove(stood, call);
    script.say('text', { content: 'The whole answer' });
    const anew = script.send('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'running' });
    script.merge(anew, { state: 'completed', output: 1 });
    script.over();
  },
  'all that was said is deleted': (script) => {
    const text = script.say('text', { content: 'a' });
    const call = script.say('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'completed', output: 1 });
    const more = script.say('text', { content: 'b' });
    script.remove(more);
    script.remove(call, text);
    script.over();
  },
  'an early text is edited while the turn goes on': (script) => {
    const text = script.say('text', { content: 'wrong' });
    script.say('tool_call', { toolCallId: 'a', tool: 'w', input: {}, state: 'completed', output: 1 });
    const more = script.send('text', { content: 'b' });
    script.edit(text, { props: { content: 'right' } });
    script.append(more, 'c');
    script.over();
  },
  'an input that changes after the result': (script) => {
    const call = script.send('tool_call', { toolCallId: 'a', tool: 'w', input: { a: 1 }, state: 'running' });
    script.merge(call, { state: 'completed', output: 1 });
    script.merge(call, { input: { a: 2 }, state: 'running' });
    script.merge(call, { state: 'failed', error: 'no' });
    script.over();
  },
  'another assistant speaks in it, and people’s words are not the answer': (script) => {
    script.say('text', { content: 'for somebody' }, { role: 'user' });
    script.say('text', { content: 'from another' }, { assistantId: 'visualizer' });
    script.say('text', { content: 'of another turn' }, { requestId: 'turn-2' });
    script.over();
  },
  'nothing at all': (script) => script.over(),
  'a failure in the middle': (script) => {
    script.append(script.send('text', { content: 'Well' }), ' …');
    script.over({
      status: 'failed',
      stopReason: 'error',
      error: { code: 'model_error', message: 'The model failed.' },
    });
  },
  'a stop in the middle': (script) => {
    script.append(script.send('text', { content: 'Well' }), ' …');
    script.over({ status: 'interrupted', stopReason: 'stopped' });
  },
  'an agent that is lost': (script) => {
    script.send('text', { content: 'Well' });
    script.over({ status: 'interrupted', stopReason: 'agent_lost' });
  },
};

export const scriptOf = (write: (script: Script) => unknown): Script => {
  const script = new Script();
  write(script);
  return script;
};

/** All chunks for one who joins after so many events. */
export function chunksFrom(script: Script, major: UiMajor, cut: number): UiChunk[] {
  const turn: Turn = cut === script.events.length ? script.turn : { ...script.turn, status: 'running', endedAt: null };
  const answer = new FollowedAnswer(turn, major);
  const begun = answer.begin({ messages: script.after(cut), offset: cut });
  return [...begun, ...script.events.slice(cut).flatMap((event) => answer.event(event))];
}

/** The answer as the history shows it. */
export function answerOf(
  script: Script,
  major: UiMajor,
): { id: string; role: string; metadata: unknown; parts: unknown[] } {
  const mine = script.after(script.events.length).filter(({ requestId }) => requestId === script.turn.requestId);
  const messages = uiMessagesOf(mine, new Map([[script.turn.requestId, script.turn]]), major);
  const found = messages.find(({ role }) => role === 'assistant');
  const [, start] = [null, chunksFrom(script, major, script.events.length)[0]];
  if (found) return JSON.parse(JSON.stringify(found)) as never;
  return {
    id: (start as { messageId: string }).messageId,
    role: 'assistant',
    metadata: finalMetadata(script, major),
    parts: [],
  };
}

const finalMetadata = (script: Script, major: UiMajor): unknown =>
  (chunksFrom(script, major, script.events.length)[0] as { messageMetadata: unknown }).messageMetadata;
