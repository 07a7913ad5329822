import { describe, expect, test } from 'vitest';
import type { UiMessage } from '../../protocol/ai-sdk/index.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { headersOf } from './request-as.js';
import { ask, chunksOf, ends, hello, question } from './ui-asking.js';
import { askedOf, gate, speak, uiScene, type UiScene } from './ui-scene.js';

/** What becomes of a conversation when a question is edited or answered anew, and it is refused, or asked twice. */

const textsOf = (messages: readonly UiMessage[]): unknown[] =>
  messages.map(({ parts }) => parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join(''));

/** Two questions with their answers. */
async function conversation(
  env: Record<string, string> = {},
): Promise<{ scene: UiScene; first: string; second: string }> {
  const scene = await uiScene((ctx) => speak(ctx, `You said ${askedOf(ctx)}`), { env });
  const [first, second] = [uid('question'), uid('question')];
  await (await ask(scene, { messages: [question('one', first)] })).text();
  await (await ask(scene, { messages: [question('two', second)] })).text();
  return { scene, first, second };
}
const WHOLE = ['one', 'You said one', 'two', 'You said two'];

describe('an edit that is refused takes nothing back', () => {
  const refusals: readonly (readonly [string, number, object, string | null])[] = [
    ['a message beyond its bounds', 413, { text: 'x'.repeat(5_000_000) }, null],
    [
      'a message beyond the bounds of this server',
      413,
      { text: 'x'.repeat(5_000), env: { MAX_MESSAGE_BYTES: '4096' } },
      null,
    ],
    ['a name of another form', 400, {}, 'no good'],
    ['a name that another turn has', 409, {}, 'second'],
  ];

  test.each(refusals)(
    '%s',
    async (_, status, { text = 'uno', env }: { text?: string; env?: Record<string, string> }, key) => {
      const { scene, first, second } = await conversation(env);
      const name = key === 'second' ? second : key;
      const edit = { messageId: first, messages: [question(text, first)] };
      const response = await ask(scene, edit, name === null ? {} : { 'idempotency-key': name });
      expect(response.status).toBe(status);
      expect(textsOf(await scene.history())).toEqual(WHOLE);
    },
  );
});

test('an edit by who may talk in the chat and not change it stops nothing', async () => {
  const goOn = gate();
  const scene = await uiScene(
    async (ctx) => {
      if (askedOf(ctx) === 'two') await goOn.passed;
      await speak(ctx, `You said ${askedOf(ctx)}`);
    },
    { as: { userId: 'ann', teamId: 'team' } },
  );
  const first = uid('question');
  await (await ask(scene, { messages: [question('one', first)] })).text();
  await scene.request('PATCH', `/v1/chats/${scene.chatId}`, { share: 'team' });
  const answer = ask(scene, { messages: [question('two', uid('question'))] });
  await until(async () => (await scene.history()).length > 2, 'the second question');
  const edit = { messageId: first, messages: [question('uno', first)] };
  const refused = await ask(scene, edit, headersOf({ userId: 'bob', teamId: 'team' }));
  expect(refused.status).toBe(403);
  goOn.open();
  expect(ends((await chunksOf(await answer)).chunks)).toMatchObject([{ type: 'finish' }]);
  expect(textsOf(await scene.history())).toEqual(WHOLE);
});

describe('TRN-1: asked again under its name', () => {
  test('an edit takes nothing back once more, and gives the answer that there is', async () => {
    const { scene, first } = await conversation();
    const key = { 'idempotency-key': uid('again') };
    const edit = { messageId: first, messages: [question('uno', first)] };
    for (let time = 0; time < 2; time++) {
      const { chunks } = await chunksOf(await ask(scene, edit, key));
      expect(ends(chunks)).toMatchObject([{ type: 'finish' }]);
      expect(textsOf(await scene.history())).toEqual(['uno', 'You said uno']);
    }
  });

  test('an answer anew is not stopped, neither of the newest question nor of an earlier one', async () => {
    const goOn = gate();
    let runs = 0;
    const scene = await uiScene(async (ctx) => {
      if (++runs > 2) await goOn.passed;
      await speak(ctx, `${runs}`);
    });
    const first = uid('question');
    await (await ask(scene, { messages: [question('one', first)] })).text();
    await (await ask(scene, { messages: [question('two', uid('question'))] })).text();
    for (const messages of [[], [question('one', first)]]) {
      const key = { 'idempotency-key': uid('again') };
      const anew = { trigger: 'regenerate-message', messages };
      const before = runs;
      const one = await ask(scene, anew, key);
      await until(() => runs > before, 'the answer anew');
      const two = await ask(scene, anew, key);
      goOn.open();
      const told = await Promise.all([chunksOf(one), chunksOf(two)]);
      for (const { chunks } of told) expect(ends(chunks)).toMatchObject([{ type: 'finish' }]);
      expect(runs).toBe(before + 1);
    }
  });

  test('a name that an earlier question has is refused', async () => {
    const { scene, first, second } = await conversation();
    const anew = { trigger: 'regenerate-message', messages: [question('two', second)] };
    const response = await ask(scene, anew, { 'idempotency-key': first });
    expect(response.status).toBe(409);
    expect(textsOf(await scene.history())).toEqual(WHOLE);
  });
});

test('an edit of a question that was deleted meanwhile is asked under another name', async () => {
  const scene = await uiScene(hello);
  await (await ask(scene, { messages: [question('one')] })).text();
  const { messages } = await scene.get<{ messages: { messageId: string }[] }>(`/v1/chats/${scene.chatId}/messages`);
  const ids = messages.map(({ messageId }) => messageId).join();
  await scene.request('DELETE', `/v1/chats/${scene.chatId}/messages?ids=${ids}`);
  const { chunks } = await chunksOf(await ask(scene, { messageId: 'question-0001', messages: [question('uno')] }));
  expect(ends(chunks)).toMatchObject([{ type: 'finish' }]);
  expect(textsOf(await scene.history())).toEqual(['uno', 'Hello']);
});
