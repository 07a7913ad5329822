import { describe, expect, test } from 'vitest';
import type { Message, Turn } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { storeBeside } from '../harness/store-beside.js';
import { callsTools, fails, ModelServer, says, USAGE, type Answer } from '../harness/model-server.js';
import { Person, type FollowedChat } from '../harness/person.js';
import { startServer, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';

/** The assistant `chat` of a server that MODEL, OPENAI_BASE_URL and OPENAI_API_KEY tell of a model. */

const KEY = 'sk-very-secret-0123456789';
const TOKENS = { inputTokens: 7, outputTokens: 3, totalTokens: 10 };

interface Here {
  readonly model: ModelServer;
  readonly server: TestServer;
  readonly person: Person;
  readonly chatId: string;
  readonly view: FollowedChat;
  start(input?: string): Promise<string>;
  /** Starts a turn and waits for its end. */
  ask(input?: string): Promise<Turn>;
  resume(requestId: string, attempt: number): Promise<Turn>;
  /** What the model said, by type, as everybody sees it. */
  said(requestId: string): Promise<(readonly [string, unknown])[]>;
}

async function begin(...answers: Answer[]): Promise<Here> {
  const model = await ModelServer.start();
  model.answer(...answers);
  const env = { MODEL: 'tiny', OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY, COALESCE_MS: '0' };
  const server = await startServer({ env });
  const person = await new Person(server.url).open();
  const chatId = await person.createChat({ assistantId: 'chat' });
  const view = await person.follow(chatId);
  const start = async (input = 'Hello'): Promise<string> => (await person.start(chatId, input)).turn.requestId;
  const ended = async (requestId: string, attempt = 1): Promise<Turn> =>
    (await person.ended(chatId, requestId, attempt)).turn;
  return {
    ...{ model, server, person, chatId, view, start },
    ask: async (input) => ended(await start(input)),
    resume: async (requestId, attempt) => {
      await person.do('turn:resume', { requestId, attempt });
      return ended(requestId, attempt);
    },
    said: async (requestId) => {
      const history = await expectConsistent(server.url, chatId, [person]);
      const isMine = (message: Message): boolean => message.requestId === requestId && message.role === 'assistant';
      return history.filter(isMine).map(({ type, props }) => [type, props['content'] ?? null] as const);
    },
  };
}

/** Everything that the server has stored or says of itself. */
async function expectNoKey({ server, view, model }: Here, turn: Turn): Promise<void> {
  const beside = storeBeside(server.dataDir);
  const tables = ['agent_turn', 'agent_message', 'agent_step'];
  const stored = await Promise.all(tables.map((table) => beside.rows(`SELECT * FROM ${table}`)));
  const everything = JSON.stringify([turn, view.events, stored]);
  expect(everything).not.toContain(KEY);
  expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
}

describe('the assistant `chat`', () => {
  test('streams what the model says, thoughts first, and stores the tokens with the turn', async () => {
    const usage = { ...USAGE, completion_tokens_details: { reasoning_tokens: 2 } };
    const here = await begin(
      [
        ...[{ reasoning: 'Let me ' }, { reasoning: 'see.' }],
        ...[{ text: 'Good ' }, { hold: true as const }, { text: 'morning' }, { text: '.' }],
        ...[{ finish: 'stop' as const }, { usage }],
      ],
      says('Again.'),
    );
    const { model, view, person, chatId } = here;
    const requestId = await here.start();
    // It is seen while the model still speaks.
    await until(() => view.messages.some(({ props }) => props['content'] === 'Good '), 'the first word');
    expect(view.messages.map(({ type, state }) => [type, state])).toEqual([
      ['text', 'closed'],
      ['thinking', 'open'],
      ['text', 'open'],
    ]);
    model.release();
    const { turn } = await person.ended(chatId, requestId);
    expect(turn).toMatchObject({ status: 'completed', usage: { ...TOKENS, reasoningTokens: 2 } });
    const stored = await storeBeside(here.server.dataDir).rows(
      'SELECT usage FROM agent_turn WHERE request_id = ?',
      requestId,
    );
    expect(stored).toEqual([{ usage: turn.usage }]);
    expect(await here.said(requestId)).toEqual([
      ['thinking', 'Let me see.'],
      ['text', 'Good morning.'],
    ]);
    const next = await here.ask('And now?');
    expect(await here.said(next.requestId)).toEqual([['text', 'Again.']]);
    expect(model.requests[1]?.body).toMatchObject({
      model: 'tiny',
      stream: true,
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Good morning.' },
        { role: 'user', content: 'And now?' },
      ],
    });
    await expectNoKey(here, next);
  });

  test('is among the assistants that a server says it has, where MODEL is given', async () => {
    const { person } = await begin();
    expect(person.hello?.assistants).toContainEqual({ assistantId: 'chat', name: 'Chat', available: true });
    const plain = await new Person((await startServer()).url).open();
    expect(plain.hello?.assistants.map(({ assistantId }) => assistantId)).toEqual(['echo']);
  });

  test('an emoji that is cut within its bytes or its pair is whole for everybody', async () => {
    const here = await begin([
      { text: 'Hi 👋', splitBytes: true },
      { text: '\ud83d' },
      { text: '\ude80 é', splitBytes: true },
      { text: ' 👩‍👩‍👧', splitBytes: true },
      { finish: 'stop' },
    ]);
    const { requestId, usage } = await here.ask();
    expect(await here.said(requestId)).toEqual([['text', 'Hi 👋🚀 é 👩‍👩‍👧']]);
    expect(JSON.stringify(here.view.events)).not.toMatch(/\\ud8|\ufffd/);
    expect(usage).toBeNull();
  });

  test.each([
    [
      401,
      { error: { message: `Incorrect API key provided: ${KEY}. You can find yours online.` } },
      'Incorrect API key',
    ],
    [400, { error: { message: 'This model’s maximum context length is 8 tokens.' } }, 'maximum context length'],
    [404, 'no such page', '404'],
  ])('HTTP %i fails the turn at once, says why, and never the key', async (status, body, words) => {
    const here = await begin({ status, body });
    const turn = await here.ask();
    expect(turn).toMatchObject({ status: 'failed', stopReason: 'error', error: { code: 'model_error' } });
    expect(turn.error?.message).toMatch(`The model failed (${status})`);
    expect(turn.error?.message).toContain(words);
    expect(here.model.requests).toHaveLength(1);
    await expectNoKey(here, turn);
    expect(await here.said(turn.requestId)).toEqual([]);
  });

  test('a busy model is asked again when it says; one that stays busy fails the turn, which a resume completes', async () => {
    const busy = fails(429, 'Slow down.', { 'retry-after-ms': '5' });
    const here = await begin(busy, says('Now.'), busy, busy, busy, says('At last.'));
    const first = await here.ask();
    expect(first.status).toBe('completed');
    expect(await here.said(first.requestId)).toEqual([['text', 'Now.']]);
    const { requestId, ...failed } = await here.ask('More?');
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'model_error' }, usage: null });
    expect(failed.error?.message).toBe('The model failed (429): Slow down.');
    expect(here.model.requests).toHaveLength(5);
    expect(await here.resume(requestId, 2)).toMatchObject({ status: 'completed', usage: TOKENS });
    expect(await here.said(requestId)).toEqual([['text', 'At last.']]);
    expect(here.model.requests[5]?.body.messages).toEqual(here.model.requests[4]?.body.messages);
  });

  test('a connection that is cut is made anew, and nothing stands twice; one that is always cut keeps what was said', async () => {
    const cut: Answer = [{ text: 'Once upon ' }, { waitMs: 5 }, { cut: true }];
    const here = await begin(cut, says('Once upon ', 'a time.'), cut, cut, cut, says('The ', 'end.'));
    const first = await here.ask();
    expect(first).toMatchObject({ status: 'completed', usage: TOKENS });
    expect(await here.said(first.requestId)).toEqual([['text', 'Once upon a time.']]);
    const failed = await here.ask('Go on');
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'model_error' } });
    expect(await here.said(failed.requestId)).toEqual([['text', 'Once upon ']]);
    expect(await here.resume(failed.requestId, 2)).toMatchObject({ status: 'completed', usage: TOKENS });
    expect(await here.said(failed.requestId)).toEqual([['text', 'The end.']]);
    await expectNoKey(here, failed);
  });

  test('TRN-5: a stop amid slow tokens ends turn and request at once; a resume answers in its place', async () => {
    const drops = Array.from({ length: 500 }, (_, index) => [{ text: `${index} ` }, { waitMs: 10 }]).flat();
    const here = await begin([...drops, { finish: 'stop' }], says('Short.'));
    const requestId = await here.start();
    await until(() => here.view.text(requestId).includes('3 '), 'some tokens');
    expect(here.model.answering).toBe(1);
    await here.person.do('turn:stop', { requestId });
    const { turn } = await here.person.ended(here.chatId, requestId);
    expect(turn).toMatchObject({ status: 'interrupted', stopReason: 'stopped', error: null });
    await until(() => here.model.answering === 0, 'the request is given up');
    const [[, text]] = (await here.said(requestId)) as [[string, string]];
    expect(text).toMatch(/^0 1 2 3 /);
    expect(await here.resume(requestId, 2)).toMatchObject({ status: 'completed', usage: TOKENS });
    expect(await here.said(requestId)).toEqual([['text', 'Short.']]);
  });

  test('a model that asks for tools that it was never offered is told so, and answers', async () => {
    const here = await begin(callsTools({ id: 'c1', name: 'search', args: { q: 'x' } }), says('Then without.'));
    const turn = await here.ask();
    expect(turn).toMatchObject({ status: 'completed', usage: { totalTokens: 20 } });
    expect(await here.said(turn.requestId)).toEqual([['text', 'Then without.']]);
    const told = here.model.requests[1]?.body.messages.at(-1);
    expect(told).toMatchObject({ role: 'tool', tool_call_id: 'c1' });
    expect(told?.['content']).toMatch(/no tool "search"/);
  });
});
