import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { headersOf } from './request-as.js';
import { readEvents } from './sse-reader.js';

const OWNER: As = { userId: 'owner', teamId: 't1' };
const MATE: As = { userId: 'mate', teamId: 't1' };
const GUEST: As = { userId: 'guest', teamId: 't2' };

async function scene(settings: object, isDirectFanOut = true) {
  const { url } = await startServer({ isDirectFanOut, env: { COALESCE_MS: '0' } });
  const owner = await new Person(url, OWNER).open();
  const agent = await new Agent(url, ['bot']).join();
  const chatId = await owner.createChat({ assistantId: 'bot', ...settings });
  await owner.follow(chatId);
  const { turn } = await owner.start(chatId, 'go');
  const run = await agent.run(turn.requestId);
  const messageId = await run.send('before');
  return { url, owner, chatId, run, messageId };
}

describe.each([true, false])(
  'ACC-4: a change of access takes effect at once (direct fan-out: %s)',
  (isDirectFanOut) => {
    test.each([
      ['a team mate', MATE, { share: 'team' }, { share: 'private' }],
      ['anyone of the tenant', GUEST, { public: true }, { public: false }],
    ])(
      'ACC-4, SUB-5: %s hears nothing from the moment on when the chat is shared no more',
      async (_who, as, settings, change) => {
        const { url, owner, chatId, run, messageId } = await scene(settings, isDirectFanOut);
        const other = await new Person(url, as).open();
        const view = await other.follow(chatId);
        using stream = await readEvents(`${url}/v1/chats/${chatId}/events`, headersOf(as));
        await run.append(messageId, ' shared');
        await until(() => view.text(run.requestId) === 'before shared', 'the shared text');
        const heard: [string, unknown][] = [];
        other.socket.onAny((name: string, body: unknown) => heard.push([name, body]));
        // The append is in the server before the change, so it may still be told.
        await run.append(messageId, ' last');
        await owner.do('chat:update', { chatId, ...change });
        await run.append(messageId, ' secret');
        await run.push({ op: 'signal', name: 'secret', data: 1 });
        await owner.do('typing', { chatId, typing: true });
        await run.close();
        await owner.ended(chatId, run.requestId);
        expect(await other.refused('message:list', { chatId })).toMatchObject({ code: 'not_found' });
        expect(await other.refused('chat:subscribe', { chatId, position: view.position })).toMatchObject({
          code: 'not_found',
        });
        expect(JSON.stringify(heard)).not.toContain('secret');
        expect(JSON.stringify(heard)).not.toContain('chat.updated');
        expect(owner.chats.get(chatId)?.text(run.requestId)).toBe('before shared last secret');
        await stream.until(({ ended }) => ended);
        expect(JSON.stringify(stream.events)).not.toContain('secret');
        expect(owner.chats.get(chatId)?.view?.chat).toMatchObject(change);
        // What waits in a window may still be told of presence: not after the end.
        const ofChat = heard.filter((said) => JSON.stringify(said).includes(chatId));
        expect(ofChat.at(-1)).toEqual(['unsubscribed', { chatId }]);
        expect(heard.filter(([name]) => name === 'unsubscribed')).toHaveLength(1);
      },
    );

    test('ACC-4: who is let in again follows from the position held', async () => {
      const { url, owner, chatId, run, messageId } = await scene({ share: 'team' }, isDirectFanOut);
      const mate = await new Person(url, MATE).open();
      const view = await mate.follow(chatId);
      await owner.do('chat:update', { chatId, share: 'private' });
      await run.append(messageId, ' unseen');
      await owner.do('chat:update', { chatId, share: 'team' });
      await run.append(messageId, ' and after');
      await mate.follow(chatId);
      await run.close();
      await mate.ended(chatId, run.requestId);
      expect(view.text(run.requestId)).toBe('before unseen and after');
    });

    test('ACC-4: an admin and the creator stay, whatever is unshared', async () => {
      const { url, owner, chatId, run, messageId } = await scene({ share: 'team', public: true }, isDirectFanOut);
      const admin = await new Person(url, { userId: 'root', roles: ['admin'] }).open();
      const view = await admin.follow(chatId);
      await admin.do('chat:update', { chatId, share: 'private', public: false });
      await run.append(messageId, ' more');
      await run.close();
      await admin.ended(chatId, run.requestId);
      await owner.ended(chatId, run.requestId);
      expect(view.text(run.requestId)).toBe('before more');
    });
  },
);

test('ACC-4, SUB-8: who may talk no more is present and typing no more', async () => {
  const { url, owner, chatId } = await scene({ share: 'team' });
  const mate = await new Person(url, MATE).open();
  const silent = await new Person(url, { ...MATE, userId: 'silent' }).open();
  await mate.follow(chatId);
  await mate.do('typing', { chatId, typing: true });
  await silent.do('typing', { chatId, typing: true });
  const typing = (userId: string) => ({ userId, typing: true });
  await until(() => owner.presences.at(-1)?.users.length === 3, 'three who are present');
  expect(owner.presences.at(-1)?.users).toEqual(expect.arrayContaining([typing('mate'), typing('silent')]));
  await owner.do('chat:update', { chatId, share: 'private' });
  await until(() => owner.presences.at(-1)?.users.length === 1, 'the owner alone');
  expect((await owner.do('chat:subscribe', { chatId })).presence).toEqual([{ userId: 'owner', typing: false }]);
});
