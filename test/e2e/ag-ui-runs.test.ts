import { describe, expect, test } from 'vitest';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { agUiScene, hushed, ThreadClient } from './ag-ui-scene.js';

describe('AG-UI: a stock HttpAgent runs a turn', () => {
  test('a thread that is new becomes a chat, and the run its turn; the text comes as it is written', async () => {
    const { client, held, threadId, conversation, history } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Hello', { runId });
    const run = await held(runId);
    expect(run.assignment?.input.map(({ props }) => props)).toEqual([{ content: 'Hello' }]);
    const messageId = await run.send('');
    await run.append(messageId, 'Hi');
    await until(() => mine.messages.at(-1)?.content === 'Hi', 'the first word');
    await run.append(messageId, ', you');
    await run.close('completed', { usage: { inputTokens: 3, outputTokens: 2 } });
    await asking;
    expect(mine.types).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(mine.seen[0]).toMatchObject({ threadId, runId, protocolVersion: '1.0' });
    expect(mine.last).toMatchObject({
      runId,
      outcome: { type: 'success' },
      usage: [{ inputTokens: 3, outputTokens: 2 }],
    });
    expect(mine.messages).toEqual(await conversation());
    expect((await history()).map(({ requestId, chatId }) => [requestId, chatId])).toEqual([
      [runId, threadId],
      [runId, threadId],
    ]);
  });

  test('thinking, a tool call with its result, other types and steps', async () => {
    const { client, held, conversation } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('What is the weather?', { runId });
    const run = await held(runId);
    await mine.hears('RUN_STARTED');
    const [stepId, thought, call, map] = [uid('step'), uid('m'), uid('m'), uid('m')];
    await run.push({ op: 'step.start', stepId, type: 'llm' });
    await run.push({ op: 'send', messageId: thought, type: 'thinking', props: { content: 'Where' } });
    await run.append(thought, '?');
    await run.push({ op: 'end', messageId: thought });
    const props = { toolCallId: 'call_1', tool: 'weather', input: { city: 'Bern' }, state: 'running' };
    await run.push({ op: 'send', messageId: call, type: 'tool_call', props });
    await run.push({ op: 'merge', messageId: call, value: { state: 'completed', output: { celsius: 21 } } });
    await run.push({ op: 'end', messageId: call }, { op: 'step.end', stepId, status: 'completed' });
    await run.push({ op: 'send', messageId: map, type: 'map', props: { pins: [] } });
    await run.push({ op: 'set', messageId: map, path: 'pins.0', value: 'Bern' });
    await run.send('21 degrees.');
    await run.close();
    await asking;
    expect(mine.messages).toEqual(await conversation());
    expect(mine.messages.map(({ role }) => role)).toEqual([
      'user',
      'reasoning',
      'assistant',
      'tool',
      'activity',
      'assistant',
    ]);
    expect(mine.messages[2]).toMatchObject({
      toolCalls: [{ id: call, function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
    });
    expect(mine.messages[3]).toMatchObject({ toolCallId: call, content: '{"celsius":21}' });
    expect(mine.messages[4]).toMatchObject({ activityType: 'map', content: { pins: ['Bern'] } });
    expect(mine.seen.filter(({ type }) => type.startsWith('STEP'))).toEqual([
      { type: 'STEP_STARTED', stepName: 'llm' },
      { type: 'STEP_FINISHED', stepName: 'llm' },
    ]);
  });

  test('delegation is a step of its own, and who speaks is named; there is one run', async () => {
    const { client, held, conversation } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Ask the other', { runId, forwardedProps: { metadata: { delayMs: 0 } } });
    const run = await held(runId);
    // From here on it hears each event; before, it would be told how things stand.
    await mine.hears('RUN_STARTED');
    const [stepId, childStackId] = [uid('step'), uid('stack')];
    await run.push({ op: 'step.start', stepId, type: 'delegate', metadata: { childStackId } });
    await run.delegate('echo', 'said by another', { childStackId });
    await run.push({ op: 'step.end', stepId, status: 'completed' });
    await run.close();
    await asking;
    const named = mine.seen.filter(({ type }) => type === 'TEXT_MESSAGE_START' || type.startsWith('STEP'));
    expect(named).toEqual([
      { type: 'STEP_STARTED', stepName: `agent:${childStackId}` },
      expect.objectContaining({ type: 'TEXT_MESSAGE_START', name: 'echo' }),
      { type: 'STEP_FINISHED', stepName: `agent:${childStackId}` },
    ]);
    expect(mine.types.filter((type) => type === 'RUN_STARTED')).toHaveLength(1);
    expect(mine.messages).toEqual(await conversation());
  });

  test('signals are CUSTOM events', async () => {
    const { client, held } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    const run = await held(runId);
    await mine.hears('RUN_STARTED');
    await run.push({ op: 'signal', name: 'progress', data: { percent: 50 } });
    await mine.hears('CUSTOM');
    await run.close();
    await asking;
    expect(mine.seen).toContainEqual({ type: 'CUSTOM', name: 'progress', value: { percent: 50 } });
  });

  test('a failure is RUN_ERROR with its code, and the run may be tried again', async () => {
    const { client, held, conversation } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    const run = await held(runId);
    await run.send('half');
    await run.close('failed', { error: { code: 'model_down', message: 'The model is down.' } });
    await asking;
    expect(mine.last).toMatchObject({ type: 'RUN_ERROR', code: 'model_down', message: 'The model is down.' });
    expect(mine.messages).toEqual(await conversation());
    // As frontends do it: without the answer that was none.
    mine.setMessages(mine.messages.slice(0, 1));
    const again = uid('run');
    const retrying = mine.runAgent({ runId: again });
    const second = await held(again);
    await second.send('whole');
    await second.close();
    await retrying;
    expect(mine.messages.map(({ content }) => content)).toEqual(['Go', 'whole']);
    expect(mine.messages).toEqual(await conversation());
  });

  test('stop ends the run as cancelled, for everybody; what was said stays', async () => {
    const { client, held, conversation } = await agUiScene();
    const [mine, other] = [client(), client()];
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    const run = await held(runId);
    await run.send('half');
    await mine.hears('TEXT_MESSAGE_CONTENT');
    expect((await other.stop()).status).toBe(200);
    await asking;
    expect(mine.last).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'cancelled' },
      metadata: { stopReason: 'stopped' },
    });
    expect(mine.messages).toEqual(await conversation());
    expect((await run.aborted()).reason).toBe('stopped');
    expect((await mine.stop(runId)).status, 'TRN-5: once more changes nothing').toBe(200);
    expect((await mine.stop()).status).toBe(404);
  });

  test('abortRun leaves, and the turn goes on', async () => {
    const { client, held, conversation } = await agUiScene();
    const mine = client();
    const runId = uid('run');
    const asking = mine.ask('Go', { runId });
    const run = await held(runId);
    const messageId = await run.send('half');
    await mine.hears('TEXT_MESSAGE_CONTENT');
    mine.abortRun();
    await asking;
    await run.append(messageId, ' and half');
    const joining = mine.connectAgent();
    await mine.hears('RUN_STARTED', 2);
    await run.close();
    await joining;
    expect(mine.messages).toEqual(await conversation());
    expect(mine.messages.at(-1)).toMatchObject({ content: 'half and half' });
  });

  test('who answers: the address, else forwardedProps, else the chat', async () => {
    const { client, url, threadId } = await agUiScene();
    const mine = new ThreadClient(url, { threadId, path: '' });
    const forwardedProps = { assistantId: 'echo', metadata: { delayMs: 0 } };
    await mine.ask('one', { forwardedProps });
    await mine.ask('two', { forwardedProps: { metadata: { delayMs: 0 } } });
    expect(mine.messages.map(({ content }) => content)).toEqual(['one', 'one', 'two', 'two']);
    const hush = hushed();
    await expect(client({ threadId: uid('thread'), path: '' }).ask('three')).rejects.toMatchObject({
      status: 400,
      payload: { error: { code: 'bad_request', details: { path: 'assistantId' } } },
    });
    hush.mockRestore();
  });

  test('tools and context of the client are the assistant’s to read; a result of the client is its next input', async () => {
    const { client, held, conversation } = await agUiScene();
    const mine = client();
    const tools = [{ name: 'confirm', description: 'Asks', parameters: { type: 'object' } }];
    const context = [{ description: 'page', value: 'home' }];
    const [first, second, call] = [uid('run'), uid('run'), uid('m')];
    const asking = mine.ask('Delete it', { runId: first, tools, context });
    const run = await held(first);
    expect(run.assignment?.turn.metadata).toEqual({ agUi: { tools, context } });
    await run.push({
      op: 'send',
      messageId: call,
      type: 'tool_call',
      props: { tool: 'confirm', input: { sure: true } },
    });
    await run.close();
    await asking;
    expect(mine.last).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: [call] } });
    mine.addMessage({ id: uid('result'), role: 'tool', toolCallId: call, content: 'yes' });
    const answering = mine.runAgent({ runId: second });
    const next = await held(second);
    expect(next.assignment?.input).toMatchObject([{ type: 'action_result', props: { messageId: call, value: 'yes' } }]);
    await next.send('Deleted.');
    await next.close();
    await answering;
    expect(mine.messages).toEqual(await conversation());
  });
});
