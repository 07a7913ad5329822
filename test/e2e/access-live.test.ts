import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { Peer, type As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { askByPath, askByRequest } from './access-asking.js';
import { bearerOf } from './request-as.js';
import { readEvents, type SseReader } from './sse-reader.js';

const OWNER: As = { userId: 'owner', teamId: 't1', tenantId: 'n1' };
const MATE: As = { userId: 'mate', teamId: 't1', tenantId: 'n1' };
const ROOT: As = { userId: 'root', tenantId: 'n1', roles: ['user', 'admin'] };
const ELSEWHERE: As = { ...MATE, tenantId: 'n2' };
const AGENT: As = { userId: 'agent', tenantId: 'n1', roles: ['agent'] };
const EVENTS = '/v1/chats/:chatId/events';

const open = async (url: string, as: As, token?: string): Promise<Person> =>
  new Person(url, as).open({ token: token ?? (await tokenFor(as)) });

async function enlist(url: string, as: As, assistants: readonly string[], token?: string): Promise<Agent> {
  const agent = new Agent(url, assistants, { as });
  await agent.open({ token: token ?? (await tokenFor(as, { assistants })) });
  await agent.attach();
  return agent;
}

const stream = (url: string, chatId: string, token: string): Promise<SseReader> =>
  readEvents(`${url}/v1/chats/${chatId}/events`, bearerOf(token));

/** A chat with a turn that an agent runs. */
async function scene(settings: object, env: Record<string, string> = {}, isDirectFanOut = true) {
  const server = await startServer({ isDirectFanOut, env: { ...JWT_ENV, COALESCE_MS: '0', ...env } });
  const { url } = server;
  const owner = await open(url, OWNER);
  const agent = await enlist(url, AGENT, ['bot']);
  const chatId = await owner.createChat({ assistantId: 'bot', ...settings });
  await owner.follow(chatId);
  const { turn } = await owner.start(chatId, 'go');
  const run = await agent.run(turn.requestId);
  const messageId = await run.send('before');
  return { server, url, owner, agent, chatId, run, messageId };
}

/** Everything that a socket hears from now on. */
function heardBy({ socket }: Peer): [string, unknown][] {
  const heard: [string, unknown][] = [];
  socket.onAny((name: string, body: unknown) => heard.push([name, body]));
  return heard;
}

const textOf = (heard: unknown): string => JSON.stringify(heard);

describe.each([true, false])('ACC-4: subscriptions by token (direct fan-out: %s)', (isDirectFanOut) => {
  test.each([
    ['a team mate', MATE, { share: 'team' }, { share: 'private' }],
    ['anyone of the tenant', { ...MATE, teamId: 't2' }, { public: true }, { public: false }],
  ])('ACC-4, SUB-5: unsharing ends socket and stream of %s at once', async (_who, as, settings, change) => {
    const { url, owner, chatId, run, messageId } = await scene(settings, {}, isDirectFanOut);
    const token = await tokenFor(as);
    const other = await open(url, as, token);
    await other.follow(chatId);
    using reader = await stream(url, chatId, token);
    await run.append(messageId, ' shared');
    await reader.until(({ events }) => textOf(events).includes(' shared'));
    const heard = heardBy(other);
    await owner.do('chat:update', { chatId, ...change });
    await run.append(messageId, ' secret');
    await reader.until(({ ended }) => ended);
    await until(() => heard.find(([name]) => name === 'unsubscribed'), 'unsubscribed');
    await run.close();
    await owner.ended(chatId, run.requestId);
    expect(await other.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    expect(textOf([heard, reader.events])).not.toContain('secret');
    expect(heard.filter(([, body]) => textOf(body).includes(chatId)).at(-1)).toEqual(['unsubscribed', { chatId }]);
    expect((await askByPath(url, token, EVENTS, { chatId })).outcome).toBe('not_found');
  });

  test('ACC-4, CMD-3: deleting ends socket and stream with chat.deleted, which is the last they hear', async () => {
    const { url, owner, chatId } = await scene({ share: 'team' }, {}, isDirectFanOut);
    const token = await tokenFor(MATE);
    const mate = await open(url, MATE, token);
    const view = await mate.follow(chatId);
    using reader = await stream(url, chatId, token);
    await reader.until(({ events }) => events.length > 0);
    await owner.do('chat:delete', { chatId });
    await reader.until(({ ended }) => ended);
    await until(() => view.view?.deleted, 'chat.deleted');
    expect(view.events.at(-1)?.type).toBe('chat.deleted');
    expect(reader.events.at(-1)?.data).toMatchObject({ type: 'chat.deleted' });
    expect((await askByPath(url, token, EVENTS, { chatId })).outcome).toBe('not_found');
  });
});

describe('ACC-4, CON-5: a token that says otherwise', () => {
  test('ACC-4, CON-5: of another team: followings of what was shared end, and typing; the own and the public stay', async () => {
    const { url, owner, chatId, run, messageId } = await scene({ share: 'team' });
    const publicId = await owner.createChat({ public: true, share: 'team' });
    const mate = await open(url, MATE);
    const ownId = await mate.createChat();
    for (const followed of [chatId, publicId, ownId]) await mate.follow(followed);
    for (const typed of [chatId, publicId]) await mate.do('typing', { chatId: typed, typing: true });
    const presentIn = async (where: string) =>
      (await owner.do('chat:subscribe', { chatId: where })).presence.filter(({ userId }) => userId === 'mate');
    for (const where of [chatId, publicId]) expect(await presentIn(where)).toEqual([{ userId: 'mate', typing: true }]);
    const heard = heardBy(mate);
    await mate.do('auth:refresh', { token: await tokenFor({ ...MATE, teamId: 't2' }) });
    // Said before the answer, on the same connection.
    expect(heard.filter(([name]) => name === 'unsubscribed')).toEqual([['unsubscribed', { chatId }]]);
    expect(await presentIn(chatId)).toEqual([]);
    expect(await presentIn(publicId)).toEqual([{ userId: 'mate', typing: false }]);
    await run.append(messageId, ' secret');
    await run.close();
    await owner.ended(chatId, run.requestId);
    for (const followed of [publicId, ownId]) {
      await (followed === ownId ? mate : owner).do('chat:update', { chatId: followed, title: 'still heard' });
      await until(() => mate.chats.get(followed)?.view?.chat.title === 'still heard', `the update of ${followed}`);
    }
    expect(textOf(heard)).not.toContain('secret');
    expect(await mate.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    expect(await mate.refused('typing', { chatId: publicId, typing: true })).toMatchObject({ code: 'forbidden' });
  });

  test('ACC-4: with a role less: what only an admin reads is followed no more', async () => {
    const { url, owner, chatId } = await scene({});
    const root = await open(url, ROOT);
    await root.follow(chatId);
    const heard = heardBy(root);
    await root.do('auth:refresh', { token: await tokenFor({ ...ROOT, roles: ['user'] }) });
    expect(heard.filter(([name]) => name === 'unsubscribed')).toEqual([['unsubscribed', { chatId }]]);
    await owner.do('chat:update', { chatId, title: 'secret' });
    expect(await root.refused('chat:get', { chatId })).toMatchObject({ code: 'not_found' });
    expect(textOf(heard)).not.toContain('secret');
  });

  test('ACC-3, ACC-4: with fewer assistants an agent keeps what it holds and is given no more of the others', async () => {
    const { url, owner } = await scene({}, { AGENT_WAIT_MS: '20' });
    const as = { ...AGENT, userId: 'worker' };
    const agent = await enlist(url, as, ['first', 'second']);
    const start = async (assistantId: string) => {
      const chatId = await owner.createChat({ assistantId });
      await owner.follow(chatId);
      const { turn } = await owner.start(chatId, 'go');
      return { chatId, requestId: turn.requestId };
    };
    const held = await start('second');
    const run = await agent.run(held.requestId);
    await agent.do('auth:refresh', { token: await tokenFor(as, { assistants: ['first'] }) });

    const lost = await start('second');
    const { turn } = await owner.ended(lost.chatId, lost.requestId);
    expect(turn).toMatchObject({ status: 'failed', stopReason: 'agent_unavailable' });
    expect(agent.runs.map(({ requestId }) => requestId)).toEqual([held.requestId]);
    const assistants = (await open(url, OWNER)).hello?.assistants.map(({ assistantId }) => assistantId);
    expect(assistants).toEqual(expect.arrayContaining(['first']));
    expect(assistants).not.toContain('second');
    for (const [command, args] of [
      ['turn:open', { chatId: lost.chatId, assistantId: 'second' }],
      ['agent:attach', { agentId: agent.agentId, assistants: [{ assistantId: 'second' }] }],
    ] as const)
      expect(await agent.refused(command, args), command).toMatchObject({ code: 'forbidden' });

    const first = await start('first');
    await (await agent.run(first.requestId)).close();
    await run.close();
    for (const { chatId, requestId } of [first, held])
      expect((await owner.ended(chatId, requestId)).turn.status).toBe('completed');
  });
});

/** How each door answers a token: `ok` or the code. */
async function doorsFor(url: string, chatId: string, token: string): Promise<Record<string, string>> {
  const knock = async (namespace: '/' | '/agents'): Promise<string> => {
    const peer = new Peer(url, namespace);
    const outcome = await peer.open({ token }).then(
      () => 'ok',
      (error: unknown) => (error as { data: ErrorBody }).data.code,
    );
    peer.close();
    return outcome;
  };
  return {
    people: await knock('/'),
    agents: await knock('/agents'),
    HTTP: (await askByRequest(url, token, 'chat:list', {})).outcome,
    events: (await askByPath(url, token, EVENTS, { chatId })).outcome,
  };
}

const OPEN = { people: 'ok', agents: 'ok', HTTP: 'ok', events: 'ok' };
const SHUT = {
  people: 'unauthenticated',
  agents: 'unauthenticated',
  HTTP: 'unauthenticated',
  events: 'unauthenticated',
};

/** Somebody at every door at once. */
async function everywhere(url: string, chatId: string, as: As, token: string) {
  const person = await open(url, as, token);
  const agent = await enlist(url, as, [`of-${String(as.userId)}-${String(as.tenantId)}`], token);
  const reader = await stream(url, chatId, token);
  await reader.until(({ events }) => events.length > 0);
  return { person, agent, reader, [Symbol.dispose]: () => reader[Symbol.dispose]() };
}

const REVOKED = [{ code: 'revoked', reconnect: false }];
const BOTH = ['user', 'agent'];

describe('ACC-4, CON-6: admin:revoke', () => {
  const iat = Math.floor(Date.now() / 1000) - 10;

  test('ACC-4: a user is shut out at every door, at once and after a restart, until they bring a newer token', async () => {
    const { server, url, owner, chatId, run, messageId } = await scene({ public: true });
    const mate = { ...MATE, roles: BOTH };
    const token = await tokenFor(mate, { claims: { iat } });
    const second = await tokenFor(mate, { claims: { iat: iat + 1 } });
    // Another of the tenant, and one of the same name in another.
    const other = await tokenFor({ ...mate, userId: 'other' }, { claims: { iat } });
    const foreign = { ...ELSEWHERE, roles: BOTH };
    const foreignToken = await tokenFor(foreign, { claims: { iat } });
    const theirs = await (await open(url, foreign, foreignToken)).createChat();
    using shut = await everywhere(url, chatId, mate, token);
    using stays = await everywhere(url, chatId, { ...mate, userId: 'other' }, other);
    using abroad = await everywhere(url, theirs, foreign, foreignToken);
    const heard = heardBy(shut.person);
    await shut.person.follow(chatId);
    expect(await doorsFor(url, chatId, second)).toEqual(OPEN);

    const root = await tokenFor(ROOT);
    const answer = await askByRequest(url, root, 'admin:revoke', { userId: 'mate' });
    expect(answer.words).toMatchObject({ status: 200, body: { connections: 3 } });
    await run.append(messageId, ' secret');
    await shut.reader.until(({ ended }) => ended);
    for (const peer of [shut.person, shut.agent]) {
      await until(() => peer.disconnectReason, 'the end of the connection');
      expect(peer.goaways).toEqual(REVOKED);
    }
    expect(textOf([heard, shut.reader.events])).not.toContain('secret');
    for (const refused of [token, second]) expect(await doorsFor(url, chatId, refused)).toEqual(SHUT);
    expect(await stays.person.do('chat:get', { chatId })).toHaveProperty('chat');
    expect(await abroad.person.do('chat:get', { chatId: theirs })).toHaveProperty('chat');
    for (const { agent, reader } of [stays, abroad]) {
      expect(agent.disconnectReason).toBeNull();
      expect(reader.ended).toBe(false);
    }
    expect(await doorsFor(url, chatId, other)).toEqual(OPEN);
    expect(await doorsFor(url, theirs, foreignToken)).toEqual(OPEN);
    const newer = await tokenFor(mate, { claims: { iat: Math.ceil(Date.now() / 1000) + 1 } });
    expect(await doorsFor(url, chatId, newer)).toEqual(OPEN);
    await run.close();
    await owner.ended(chatId, run.requestId);

    await server.close();
    const { url: later } = await startServer({ env: JWT_ENV, dataDir: server.dataDir });
    for (const refused of [token, second]) expect(await doorsFor(later, chatId, refused)).toEqual(SHUT);
    for (const admitted of [other, newer]) expect(await doorsFor(later, chatId, admitted)).toEqual(OPEN);
    expect(await doorsFor(later, theirs, foreignToken)).toEqual(OPEN);
  });

  test('ACC-4: one token is shut out, and no other of the same user, nor of the same name in another tenant', async () => {
    const { server, url, chatId } = await scene({ public: true });
    const mate = { ...MATE, roles: BOTH };
    const token = await tokenFor(mate, { claims: { jti: 'this one' } });
    const second = await tokenFor(mate, { claims: { jti: 'that one' } });
    const foreign = { ...ELSEWHERE, roles: BOTH };
    const foreignToken = await tokenFor(foreign, { claims: { jti: 'this one' } });
    const theirs = await (await open(url, foreign, foreignToken)).createChat();
    using shut = await everywhere(url, chatId, mate, token);
    const stays = await open(url, mate, second);
    using beside = await stream(url, chatId, second);
    const abroad = await open(url, foreign, foreignToken);

    const answer = await askByRequest(url, await tokenFor(ROOT), 'admin:revoke', { jti: 'this one' });
    expect(answer.words).toMatchObject({ status: 200, body: { connections: 3 } });
    await shut.reader.until(({ ended }) => ended);
    for (const peer of [shut.person, shut.agent]) {
      await until(() => peer.disconnectReason, 'the end of the connection');
      expect(peer.goaways).toEqual(REVOKED);
    }
    // Nor may it be brought to a connection that stands.
    expect(await stays.refused('auth:refresh', { token })).toMatchObject({ code: 'unauthenticated' });
    expect(await stays.do('chat:get', { chatId })).toHaveProperty('chat');
    expect(await abroad.do('chat:get', { chatId: theirs })).toHaveProperty('chat');
    expect(beside.ended).toBe(false);
    expect(await doorsFor(url, chatId, token)).toEqual(SHUT);
    expect(await doorsFor(url, chatId, second)).toEqual(OPEN);
    expect(await doorsFor(url, theirs, foreignToken)).toEqual(OPEN);

    await server.close();
    const { url: later } = await startServer({ env: JWT_ENV, dataDir: server.dataDir });
    expect(await doorsFor(later, chatId, token)).toEqual(SHUT);
    expect(await doorsFor(later, chatId, second)).toEqual(OPEN);
    expect(await doorsFor(later, theirs, foreignToken)).toEqual(OPEN);
  });

  test('ACC-1, ACC-4: an admin of another tenant revokes nobody here', async () => {
    const { url, owner, chatId } = await scene({ public: true });
    const mate = { ...MATE, roles: BOTH };
    const token = await tokenFor(mate, { claims: { iat, jti: 'mine' } });
    using stays = await everywhere(url, chatId, mate, token);
    const root = await tokenFor({ ...ROOT, tenantId: 'n2' });
    for (const target of [{ userId: 'mate' }, { jti: 'mine' }]) {
      const { words } = await askByRequest(url, root, 'admin:revoke', target);
      expect(words).toMatchObject({ status: 200, body: { connections: 0 } });
    }
    expect(await stays.person.do('chat:get', { chatId })).toHaveProperty('chat');
    expect(await doorsFor(url, chatId, token)).toEqual(OPEN);
    expect([stays.person.goaways, stays.agent.goaways, owner.goaways]).toEqual([[], [], []]);
    expect(stays.reader.ended).toBe(false);
  });

  test('ACC-4, CMD-1: what names neither a user nor a token, or both, is refused by name and revokes nobody', async () => {
    const { url, owner, chatId } = await scene({ public: true });
    const mate = { ...MATE, roles: BOTH };
    const token = await tokenFor(mate, { claims: { iat, jti: 'mine' } });
    using stays = await everywhere(url, chatId, mate, token);
    const root = await tokenFor(ROOT);
    for (const [target, path] of [
      [{}, 'userId'],
      [{ userId: 'mate', jti: 'mine' }, 'userId'],
      [{ userId: '' }, 'userId'],
      [{ userId: ['mate'] }, 'userId'],
      [{ jti: 7 }, 'jti'],
      [{ jti: '' }, 'jti'],
    ] as const) {
      const { words } = await askByRequest(url, root, 'admin:revoke', target);
      expect(words, JSON.stringify(target)).toMatchObject({
        status: 400,
        body: { error: { code: 'bad_request', retryable: false, details: { path } } },
      });
    }
    expect(await stays.person.do('chat:get', { chatId })).toHaveProperty('chat');
    expect(await doorsFor(url, chatId, token)).toEqual(OPEN);
    expect(await doorsFor(url, chatId, root)).toMatchObject({ people: 'ok', HTTP: 'ok', events: 'ok' });
    expect([stays.person.goaways, stays.agent.goaways, owner.goaways]).toEqual([[], [], []]);
    expect(stays.reader.ended).toBe(false);
  });
});
