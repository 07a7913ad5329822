import { DummyChatModel } from 'beeai-framework/adapters/dummy/backend/chat';
import { ReActAgent } from 'beeai-framework/agents/react/agent';
import { ToolCallingAgent } from 'beeai-framework/agents/toolCalling/agent';
import { ChatModelOutput } from 'beeai-framework/backend/chat';
import { AssistantMessage, ToolMessage, UserMessage } from 'beeai-framework/backend/message';
import { BeeAgent } from 'bee-agent-framework/agents/bee/agent';
import { ChatLLM, ChatLLMOutput } from 'bee-agent-framework/llms/chat';
import { BaseMessage } from 'bee-agent-framework/llms/primitives/message';
import { Emitter } from 'bee-agent-framework/emitter/emitter';
import { describe, expect, test } from 'vitest';
import { EVERYWHERE, GENERATIONS, HOSTS, expectHolds, stage } from './bee-generations.js';

const [PRESENT, SEED] = GENERATIONS;

/** A model of the present generation that says what the test says. */
class StubModel extends DummyChatModel {
  constructor(readonly answer: () => any) {
    super();
  }

  override async _create(): Promise<any> {
    return new ChatModelOutput([new AssistantMessage(this.answer())]);
  }

  override async *_createStream(): any {
    yield await this._create();
  }
}

class StubOutput extends ChatLLMOutput {
  constructor(readonly text: string) {
    super();
  }
  get messages() {
    return [BaseMessage.of({ role: 'assistant', text: this.text })];
  }
  getTextContent() {
    return this.text;
  }
  merge() {}
  toString() {
    return this.text;
  }
  createSnapshot() {
    return { text: this.text };
  }
  loadSnapshot() {}
}

/** A model of the generation before. */
class StubLLM extends ChatLLM<any> {
  readonly emitter = new Emitter({ namespace: ['stub'], creator: this } as any) as any;
  constructor(readonly answer: () => string) {
    super('stub', {} as any);
  }
  async meta() {
    return { tokenLimit: 10_000 };
  }
  async embed(): Promise<any> {
    return { embeddings: [] };
  }
  async tokenize() {
    return { tokensCount: 1 };
  }
  protected async _generate() {
    return new StubOutput(this.answer());
  }
  protected async *_stream(): any {
    yield new StubOutput(this.answer());
  }
  createSnapshot() {
    return { modelId: 'stub' } as any;
  }
  loadSnapshot() {}
}

const says = (answer: string) => `Thought: I know this.\nFinal Answer: ${answer}`;

/** The agent of each generation that keeps question and answer. */
const agentOf = (generation: string, memory: any, answer: () => string): any =>
  generation === PRESENT.generation
    ? new ReActAgent({ llm: new StubModel(answer), memory, tools: [] })
    : new BeeAgent({ llm: new StubLLM(answer), memory, tools: [] });

describe.each(EVERYWHERE)('bee: the agent of $generation, $host', (where) => {
  test('3e, 3c.10: a run adds question and answer, the next one after a restart of the program knows them', async () => {
    const { memories, reread, rows } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ chatId: 'agent', assistantId: 'guide' });
    const run = await agentOf(where.generation, memory, () => says('It is Paris.')).run({
      prompt: 'What is the capital?',
    });
    expect(run.result.text).toBe('It is Paris.');
    await expectHolds(memory, ['What is the capital?', 'It is Paris.']);
    expect(await rows('agent')).toMatchObject([
      { role: 'user', assistantId: null, props: { content: 'What is the capital?' } },
      { role: 'assistant', assistantId: 'guide', props: { content: 'It is Paris.' } },
    ]);

    const again = await memories.UnconstrainedMemory.open({ chatId: 'agent' });
    const agent = agentOf(where.generation, memory, () => says('French.'));
    agent.memory = again;
    await agent.run({ prompt: 'And the language?' });
    const all = ['What is the capital?', 'It is Paris.', 'And the language?', 'French.'];
    await expectHolds(again, all);
    expect(await reread(memories.UnconstrainedMemory, { chatId: 'agent' })).toEqual(all);
  });

  test('3a: prompt null adds the answer alone; a run that fails leaves the memory unchanged', async () => {
    const { memories, user } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'agent' });
    await memory.add(user('asked already'));
    await agentOf(where.generation, memory, () => says('answered')).run({ prompt: null });
    await expectHolds(memory, ['asked already', 'answered']);
    const fails = agentOf(where.generation, memory, () => {
      throw new Error('no model');
    });
    await expect(
      fails.run({ prompt: 'lost' }, { execution: { maxRetriesPerStep: 0, totalMaxRetries: 0 } }),
    ).rejects.toThrow();
    await expectHolds(memory, ['asked already', 'answered']);
  });

  test('sliding and token memories inside the agent', async () => {
    const { memories } = await stage(where);
    for (const memory of [
      await memories.SlidingMemory.open({ key: 's', size: 2 }),
      await memories.TokenMemory.open({ key: 't', maxTokens: 9, syncThreshold: 2 }),
    ]) {
      for (const word of ['one', 'two', 'three'])
        await agentOf(where.generation, memory, () => says(`${word}!`)).run({ prompt: `${word}?` });
      await expectHolds(memory, ['three?', 'three!']);
    }
  });
});

describe.each(HOSTS)('bee: ToolCallingAgent, $host', (host) => {
  const where = { ...PRESENT, ...host };
  let calls = 0;
  const final = (response: string) => () => [
    { type: 'tool-call', toolCallId: `call-${calls++}`, toolName: 'final_answer', input: { response } },
  ];
  const agentWith = (memory: any, answer: () => any, more: object = {}) =>
    new ToolCallingAgent({ llm: new StubModel(answer), memory, tools: [], ...more } as any);

  test('3a: each run empties the memory and adds everything again, tool calls and results too, and each part comes back', async () => {
    const { memories, rows } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ chatId: 'tools' });
    await agentWith(memory, final('one')).run({ prompt: 'first?' });
    expect(memory.messages.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'tool']);
    await agentWith(memory, final('two')).run({ prompt: 'second?' });
    await memory.flushed();
    const again = await memories.UnconstrainedMemory.open({ chatId: 'tools' });
    expect(again.messages.map((message: any) => message.createSnapshot())).toEqual(
      memory.messages.map((message: any) => message.createSnapshot()),
    );
    expect(again.messages).toHaveLength(6);
    expect(again.messages[4]).toBeInstanceOf(AssistantMessage);
    expect(again.messages[4].getToolCalls()).toMatchObject([{ toolName: 'final_answer', input: { response: 'two' } }]);
    expect(again.messages[5]).toBeInstanceOf(ToolMessage);
    expect(again.messages[5].getToolResults()).toHaveLength(1);
    const visible = await rows('tools');
    expect(visible).toHaveLength(6);
    expect(visible[5]).toMatchObject({ role: 'assistant', metadata: { role: 'tool' } });
    // What the agent reads goes into the next run as it is.
    await agentWith(again, final('three')).run({ prompt: 'third?' });
    expect(again.messages).toHaveLength(9);
  });

  test('3a: without intermediate steps it adds the last two', async () => {
    const { memories } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ key: 'two' });
    await agentWith(memory, final('one'), { saveIntermediateSteps: false }).run({ prompt: 'first?' });
    await memory.refresh();
    expect(memory.messages.map(({ role }: any) => role)).toEqual(['assistant', 'tool']);
  });

  test('images, files, ids and meta come back as they were', async () => {
    const { memories, chats, rows } = await stage(where);
    const memory = await memories.UnconstrainedMemory.open({ chatId: 'parts' });
    const message = new UserMessage(
      [
        { type: 'text', text: 'Look ' },
        { type: 'image', image: new Uint8Array([1, 2, 255]), mediaType: 'image/png' },
        { type: 'text', text: 'here' },
        { type: 'file', data: new URL('https://example.org/x.pdf'), mediaType: 'application/pdf' },
      ] as any,
      { createdAt: new Date(86_400_000), nested: { constructor: 1, at: new Date(5) } } as any,
      'message-1',
    );
    await memory.add(message);
    const again = await memories.UnconstrainedMemory.open({ chatId: 'parts' });
    expect(again.messages[0].createSnapshot()).toEqual(message.createSnapshot());
    expect(again.messages[0].text).toBe('Look here');
    // A person edits the text: the other parts stay.
    const [row] = await rows('parts');
    await chats.call('message:update', { messageId: row!.messageId, props: { content: 'See there' } });
    await again.refresh();
    expect(again.messages[0].text).toBe('See there');
    expect(again.messages[0].content.map(({ type }: any) => type)).toEqual(['text', 'image', 'file']);
    expect(again.messages[0].id).toBe('message-1');
  });
});

test('both generations on one chat: each reads what the other wrote', async () => {
  const { memories, chats, message } = await stage({ ...SEED, ...HOSTS[0] });
  const seeds = await memories.UnconstrainedMemory.open({ chatId: 'both' });
  await seeds.addMany([message('system', 'S'), message('user', 'U'), message('critic', 'C', { n: 1 })]);
  const presents = await (PRESENT.memoriesOf(chats) as any).UnconstrainedMemory.open({ chatId: 'both' });
  expect(presents.messages.map(({ role, text }: any) => [role, text])).toEqual([
    ['system', 'S'],
    ['user', 'U'],
    ['critic', 'C'],
  ]);
  await presents.add(PRESENT.message('assistant', 'A'), 1);
  await seeds.refresh();
  expect(seeds.messages.map(({ role, text }: any) => [role, text])).toEqual([
    ['system', 'S'],
    ['assistant', 'A'],
    ['user', 'U'],
    ['critic', 'C'],
  ]);
});
