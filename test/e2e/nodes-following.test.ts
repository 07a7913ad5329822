import { expect, test } from 'vitest';
import type { ChatEvent } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { Nodes } from '../harness/nodes.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { describeOnRedis } from '../harness/services.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { headersOf } from './request-as.js';
import { readEvents } from './sse-reader.js';

const OWNER: As = { userId: 'owner', teamId: 't1' };
const MATE: As = { userId: 'mate', teamId: 't1' };

/** A chat that node `a` owns, shared with the team, in which a turn runs and has said "before". */
async function scene() {
  const nodes = new Nodes();
  const env = { COALESCE_MS: '0' };
  const [a, b] = [await nodes.start({ env }), await nodes.start({ env })];
  const owner = await new Person(a.url, OWNER).open();
  const mate = await new Person(b.url, MATE).open();
  const agent = await new Agent(a.url, ['bot']).join();
  const chatId = await owner.createChat({ assistantId: 'bot', share: 'team' });
  await owner.follow(chatId);
  const { requestId } = (await owner.start(chatId, 'go')).turn;
  const run = await agent.run(requestId);
  const messageId = await run.send('before');
  return { nodes, a, b, owner, mate, chatId, run, requestId, messageId };
}

describeOnRedis('following a chat at a node that does not own it', () => {
  test('LIF-4, SUB-1: a snapshot has what the running turn has said so far', async () => {
    const { a, mate, owner, chatId, run, requestId, messageId } = await scene();
    const view = await mate.follow(chatId);
    expect(view.text(requestId)).toBe('before');
    expect(view.position).toEqual(owner.chats.get(chatId)?.position);
    await run.append(messageId, ' after');
    await run.close();
    await mate.ended(chatId, requestId);
    await owner.ended(chatId, requestId);
    expect(view.text(requestId)).toBe('before after');
    await expectConsistent(a.url, chatId, [owner, mate], OWNER);
  });

  test('LIF-4, SUB-2: who comes back at another node is given what was missed and nothing else, under the same epoch', async () => {
    const { a, mate, chatId, run, requestId, messageId } = await scene();
    const view = await mate.follow(chatId);
    const left = view.position;
    mate.close();
    await run.append(messageId, ' one');
    await run.append(messageId, ' two');
    const elsewhere = await new Person(a.url, MATE).open();
    const answer = await elsewhere.do('chat:subscribe', { chatId, position: left });
    expect(answer.mode).toBe('replay');
    expect(answer.position.epoch).toBe(left?.epoch);
    expect(answer.events?.map(({ offset }) => offset)).toEqual([(left?.offset ?? 0) + 1, (left?.offset ?? 0) + 2]);
    // And back again, by the same connection's view.
    await mate.open();
    await mate.follow(chatId);
    expect(view.text(requestId)).toBe('before one two');
  });

  test('LIF-4, SUB-5: subscribing twice is one following; after unsubscribing nothing comes', async () => {
    const { owner, mate, chatId, run, requestId, messageId } = await scene();
    await mate.follow(chatId);
    await mate.follow(chatId);
    await run.append(messageId, ' once');
    await until(() => mate.chats.get(chatId)?.text(requestId) === 'before once', 'the text');
    const heard: unknown[] = [];
    await mate.do('chat:unsubscribe', { chatId });
    mate.socket.onAny((...args) => heard.push(args));
    await run.append(messageId, ' more');
    await until(() => owner.chats.get(chatId)?.text(requestId) === 'before once more', 'the text at the owner');
    await until(() => owner.presences.at(-1)?.users.length === 1, 'that one is gone');
    await mate.do('chat:get', { chatId });
    expect(heard).toEqual([]);
  });

  test('LIF-4, SUB-8: presence, typing and signals are told over nodes', async () => {
    const { owner, mate, chatId, run, requestId } = await scene();
    await mate.follow(chatId);
    const users = (person: Person) => person.presences.at(-1)?.users.map(({ userId, typing }) => `${userId} ${typing}`);
    const both = (said: string[]) =>
      until(
        () => [owner, mate].every((person) => JSON.stringify(users(person)?.sort()) === JSON.stringify(said)),
        `presence: ${said.join()}`,
      );
    await owner.do('typing', { chatId, typing: false });
    await mate.do('typing', { chatId, typing: true });
    await both(['mate true', 'owner false']);
    await owner.do('typing', { chatId, typing: true });
    await both(['mate true', 'owner true']);
    await mate.do('typing', { chatId, typing: false });
    await both(['mate false', 'owner true']);
    await run.push({ op: 'signal', name: 'nod', data: { to: 'all' } });
    const nod = { chatId, requestId, name: 'nod', data: { to: 'all' } };
    await until(() => owner.signals.length > 0 && mate.signals.length > 0, 'the signal');
    expect([...owner.signals, ...mate.signals]).toMatchObject([nod, nod]);
    await mate.do('typing', { chatId, typing: true });
    mate.drop();
    await until(() => users(owner)?.join() === 'owner true', 'that one is gone');
  });

  test('LIF-4, SUB-3: events are streamed over HTTP by any node, also after a Last-Event-ID of another', async () => {
    const { a, b, owner, chatId, run, requestId, messageId } = await scene();
    const eventsAt = (url: string, headers = {}) =>
      readEvents(`${url}/v1/chats/${chatId}/events`, { ...headersOf(MATE), ...headers });
    using first = await eventsAt(b.url);
    await run.append(messageId, ' one');
    await first.until(({ events }) => events.some(({ event }) => event === 'message'));
    const { id } = first.events.at(-1) ?? {};
    first[Symbol.dispose]();
    await run.append(messageId, ' two');
    await run.close();
    await owner.ended(chatId, requestId);
    for (const url of [a.url, b.url]) {
      using again = await eventsAt(url, { 'last-event-id': id });
      await again.until(({ events }) => events.some(({ data }) => (data as ChatEvent).type === 'turn.ended'));
      const told = again.events.filter(({ event }) => event === 'message').map(({ data }) => data as ChatEvent);
      const seen = owner.chats.get(chatId)?.events ?? [];
      expect(told).toEqual(seen.slice(-told.length));
      expect(told[0]).toMatchObject({ type: 'message.appended', text: ' two' });
    }
  });
});

describeOnRedis('access to a chat that another node owns', () => {
  test.each([
    ['unshared', (owner: Person, chatId: string) => owner.do('chat:update', { chatId, share: 'private' })],
    ['deleted', (owner: Person, chatId: string) => owner.do('chat:delete', { chatId })],
  ])('LIF-4, ACC-4, SUB-5: a following ends at once when the chat is %s', async (what, change) => {
    const { b, owner, mate, chatId, run, requestId, messageId } = await scene();
    const view = await mate.follow(chatId);
    using stream = await readEvents(`${b.url}/v1/chats/${chatId}/events`, headersOf(MATE));
    const heard: unknown[] = [];
    mate.socket.onAny((...args) => heard.push(args));
    await change(owner, chatId);
    if (what === 'unshared') {
      await run.append(messageId, ' secret');
      await run.push({ op: 'signal', name: 'secret', data: 1 });
      await run.close();
      await owner.ended(chatId, requestId);
    }
    await stream.until(({ ended }) => ended);
    expect(await mate.refused('chat:subscribe', { chatId, position: view.position })).toMatchObject({
      code: 'not_found',
    });
    expect(JSON.stringify([heard, stream.events])).not.toContain('secret');
    expect(view.events.at(-1)?.type === 'chat.deleted').toBe(what === 'deleted');
  });

  test('LIF-4, ACC-4: who is somebody else after auth:refresh follows no more what that one may not read', async () => {
    const nodes = new Nodes();
    const [a, b] = [await nodes.start({ env: JWT_ENV }), await nodes.start({ env: JWT_ENV })];
    const owner = await new Person(a.url).open({ token: await tokenFor(OWNER) });
    const mate = await new Person(b.url).open({ token: await tokenFor(MATE) });
    const [shared, everyones] = [
      await owner.createChat({ share: 'team' }),
      await owner.createChat({ share: 'team', public: true }),
    ];
    for (const chatId of [shared, everyones]) {
      await owner.follow(chatId);
      await mate.follow(chatId);
    }
    await mate.do('auth:refresh', { token: await tokenFor({ ...MATE, teamId: 't2' }) });
    // Whoever may not read it any more is not there any more.
    await until(
      () => owner.presences.filter(({ chatId }) => chatId === shared).at(-1)?.users.length === 1,
      'the end of the following',
    );
    for (const chatId of [shared, everyones]) await owner.do('chat:update', { chatId, title: 'new' });
    await until(() => mate.chats.get(everyones)?.view?.chat.title === 'new', 'the title of the public one');
    expect(mate.chats.get(shared)?.events).toEqual([]);
    expect(await mate.refused('chat:subscribe', { chatId: shared })).toMatchObject({ code: 'not_found' });
  });
});
