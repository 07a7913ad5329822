import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../protocol/index.js';
import { ask, bot, hello, question } from './ui-asking.js';
import { sceneAt, uiScene } from './ui-scene.js';
import { ALICE, bearer, BOB, tokenServer } from './token-scene.js';

/** What is refused below `/v1/ai-sdk`, with code and field, and to whom. */

/** Of a request whose first line names this, as a client of a proxy would. */
const statusOf = (url: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });

describe('refusals', () => {
  const refusals: readonly (readonly [what: string, body: object, status: number, code: string, path: string])[] = [
    ['no chat', { id: undefined }, 400, 'bad_request', 'id'],
    ['a chat id of another form', { id: 'a b' }, 400, 'bad_request', 'id'],
    ['no messages', { messages: undefined }, 400, 'bad_request', 'messages'],
    ['an empty list', { messages: [] }, 400, 'bad_request', 'messages'],
    ['messages that are no list', { messages: 'hi' }, 400, 'bad_request', 'messages'],
    ['a message that is none', { messages: [7] }, 400, 'bad_request', 'messages.0'],
    ['a message id of another form', { messages: [question('a', 'no good')] }, 400, 'bad_request', 'messages.0.id'],
    [
      'a last message of the assistant',
      { messages: [{ ...question('a'), role: 'assistant' }] },
      400,
      'bad_request',
      'messages.0.role',
    ],
    ['no parts', { messages: [{ ...question('a'), parts: [] }] }, 400, 'bad_request', 'messages.0.parts'],
    [
      'a part that is none',
      { messages: [{ ...question('a'), parts: [null] }] },
      400,
      'bad_request',
      'messages.0.parts.0',
    ],
    [
      'a text that is none',
      { messages: [{ ...question('a'), parts: [{ type: 'text', text: 1 }] }] },
      400,
      'bad_request',
      'messages.0.parts.0.text',
    ],
    [
      'a part that only assistants have',
      { messages: [{ ...question('a'), parts: [{ type: 'tool-x' }] }] },
      400,
      'bad_request',
      'messages.0.parts.0.type',
    ],
    [
      'a file without a URL',
      { messages: [{ ...question('a'), parts: [{ type: 'file', mediaType: 'a/b' }] }] },
      400,
      'bad_request',
      'messages.0.parts.0.url',
    ],
    [
      'a signal as data',
      { messages: [{ ...question('a'), parts: [{ type: 'data-event', data: {} }] }] },
      400,
      'bad_request',
      'messages.0.parts.0.type',
    ],
    [
      'a key that reaches a prototype',
      {
        messages: [{ ...question('a'), parts: [{ type: 'data-x', data: JSON.parse('{"constructor":1}') as object }] }],
      },
      400,
      'bad_request',
      'messages.0.parts.0.data',
    ],
    ['another trigger', { trigger: 'resubmit' }, 400, 'bad_request', 'trigger'],
    ['another messageId than the last message’s', { messageId: 'something-else-1' }, 400, 'bad_request', 'messageId'],
    ['an assistant id of another form', { assistantId: 'a b' }, 400, 'bad_request', 'assistantId'],
    ['another onBusy', { onBusy: 'maybe' }, 400, 'bad_request', 'onBusy'],
    ['metadata that is no object', { metadata: 3 }, 400, 'bad_request', 'metadata'],
  ];

  test.each(refusals)('%s', async (_, body, status, code, path) => {
    const scene = await uiScene(hello);
    const response = await ask(scene, body);
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: ErrorBody }).error).toMatchObject({ code, details: { path } });
    expect(await scene.get('/v1/chats')).toMatchObject({ total: 0 });
  });

  test('bodies that are no JSON objects, and methods that there are none of', async () => {
    const scene = await uiScene(hello);
    for (const body of ['{', '[]', '7', 'null'])
      expect((await scene.request('POST', '/v1/ai-sdk/chat', body)).status, body).toBe(400);
    for (const [method, path, allowed] of [
      ['GET', '', 'POST'],
      ['HEAD', `/${scene.chatId}/stream`, 'GET'],
      ['POST', `/${scene.chatId}/stream`, 'GET'],
      ['GET', `/${scene.chatId}/stop`, 'POST'],
      ['DELETE', `/${scene.chatId}/messages`, 'GET'],
    ] as const) {
      const response = await scene.request(method, `/v1/ai-sdk/chat${path}`);
      expect([response.status, response.headers.get('allow')], `${method} ${path}`).toEqual([404, allowed]);
    }
  });

  test('an address that is none, and a major that is said twice', async () => {
    const scene = await uiScene(hello);
    const stream = `/v1/ai-sdk/chat/${scene.chatId}/stream`;
    expect(await statusOf(scene.url, `http://somewhere:99999999${stream}`)).toBe(204);
    expect((await scene.request('GET', `${stream}?ai-sdk=5&ai-sdk=7`)).status).toBe(400);
    expect((await scene.request('GET', `${stream}?ai-sdk=8`)).status).toBe(415);
  });

  test('an answer anew in a chat where nothing was asked, or of a message that there is none of', async () => {
    const scene = await uiScene(hello);
    const anew = (messages: unknown[], messageId?: string): Promise<Response> =>
      ask(scene, { trigger: 'regenerate-message', messages, messageId });
    expect((await anew([])).status).toBe(404);
    await (await ask(scene, {})).text();
    expect((await anew([question('x', 'never-asked-0001')])).status).toBe(404);
    expect((await anew([], 'no-such-turn.answer')).status).toBe(404);
  });
});

describe('rights (ACC-2)', () => {
  test('who may not read the chat sees nothing of it; who may only read it may not talk', async () => {
    const { url, token } = await tokenServer({ assistants: [bot(hello)] });
    const scene = sceneAt(url);
    const alice = bearer(await token(ALICE));
    const bob = bearer(await token(BOB));
    await (await ask(scene, {}, alice)).text();
    const at = (path: string): string => `/v1/ai-sdk/chat/${scene.chatId}/${path}`;
    const statuses = async (): Promise<number[]> => {
      const responses = [
        await ask(scene, { messages: [question('b', 'question-of-bob-1')] }, bob),
        await ask(scene, { trigger: 'regenerate-message' }, bob),
        await scene.request('GET', at('stream'), undefined, bob),
        await scene.request('POST', at('stop'), {}, bob),
        await scene.request('GET', at('messages'), undefined, bob),
      ];
      await Promise.all(responses.map((response) => response.text()));
      return responses.map(({ status }) => status);
    };
    // What is asked of a chat that may not be seen would create it: its id is taken, and nothing more is said.
    expect(await statuses()).toEqual([409, 404, 204, 404, 404]);
    await scene.request('PATCH', `/v1/chats/${scene.chatId}`, { public: true }, alice);
    expect(await statuses()).toEqual([403, 403, 200, 403, 200]);
    expect((await scene.request('GET', at('stream'))).status).toBe(401);
  });

  test('to take a chat back is for who may change it', async () => {
    const { url, token } = await tokenServer({ assistants: [bot(hello)] });
    const scene = sceneAt(url);
    const alice = bearer(await token(ALICE));
    await scene.request('POST', '/v1/chats', { chatId: scene.chatId, assistantId: 'bot', share: 'team' }, alice);
    await (await ask(scene, {}, alice)).text();
    const edit = await ask(scene, { messageId: 'question-0001' }, bearer(await token(BOB)));
    expect(edit.status).toBe(403);
    const { messages } = (await (
      await scene.request('GET', `/v1/ai-sdk/chat/${scene.chatId}/messages`, undefined, alice)
    ).json()) as { messages: unknown[] };
    expect(messages).toHaveLength(2);
  });
});
