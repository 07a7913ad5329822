import { describe, expect, test } from 'vitest';
import type { Ack, ErrorBody } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { type Peer, uid, type As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { headersOf } from './request-as.js';
import { scene } from './scene.js';

const BUSY: As = { userId: 'busy', roles: ['user', 'agent'] };
const OTHER: As = { userId: 'other', roles: ['user', 'agent'] };

/** What a door answered; without an error for a success, with headers where it is a response. */
type Outcome = { readonly error: ErrorBody | null; readonly headers?: Headers };

const ofAck = (ack: Ack<unknown>): Outcome => ({ error: ack.ok ? null : ack.error });

async function ofResponse(response: Response): Promise<Outcome> {
  if (!response.ok) {
    expect(response.headers.get('content-type')).toContain('application/json');
    return { error: ((await response.json()) as { error: ErrorBody }).error, headers: response.headers };
  }
  await response.body?.cancel();
  return { error: null };
}

const ofConnecting = (peer: Peer, auth?: Record<string, unknown>): Promise<Outcome> =>
  peer.open(auth).then(
    () => ({ error: null }),
    (refused: unknown) => ({ error: (refused as { data: ErrorBody }).data }),
  );

const get = (url: string, path: string, headers: Record<string, string>): Promise<Outcome> =>
  fetch(url + path, { headers }).then(ofResponse);

const post = (url: string, as: As, path: string, body: unknown): Promise<Outcome> =>
  fetch(url + path, {
    method: 'POST',
    headers: { ...headersOf(as), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then(ofResponse);

const publicChat = async (url: string): Promise<string> =>
  (await new Person(url, { userId: 'owner' }).open()).createChat({ public: true, chatId: 'open' });

/** One command by each door. The function that is returned gives it. */
const DOORS: Record<string, (url: string, as: As) => Promise<() => Promise<Outcome>>> = {
  'a socket': async (url, as) => {
    const person = await new Person(url, as).open();
    return async () => ofAck(await person.ask('chat:list'));
  },
  "an agent's socket": async (url, as) => {
    const agent = await new Agent(url, ['bot'], { as }).open();
    const args = { agentId: agent.agentId, assistants: [{ assistantId: 'bot' }] };
    return async () => ofAck(await agent.ask('agent:attach', args));
  },
  HTTP: async (url, as) => () => get(url, '/v1/chats', headersOf(as)),
  'an event stream': async (url, as) => () => get(url, '/v1/chats/open/events', headersOf(as)),
};

/** Gives the command until it is refused. @returns how often it was served before */
async function spend(ask: () => Promise<Outcome>, most: number): Promise<{ served: number; refused: Outcome }> {
  for (let served = 0; served <= most; served++) {
    const refused = await ask();
    if (refused.error) return { served, refused };
  }
  throw new Error(`${most} commands were served`);
}

/** What a person has, once they may ask again. */
const listed = (person: Person) =>
  until(
    () => person.do<{ data: { chatId: string }[]; total: number }>('chat:list').catch(() => null),
    'a second later',
  );

const limited = (limit: string, max: number) => ({
  code: 'rate_limited',
  retryable: true,
  retryAfterMs: expect.any(Number) as number,
  details: { limit, max },
});

function expectRetryAfter({ error, headers }: Outcome, mostMs: number): void {
  const { retryAfterMs = NaN } = error ?? {};
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(mostMs);
  if (headers) expect(headers.get('retry-after')).toBe(String(Math.ceil(retryAfterMs / 1000)));
}

describe('RATE_LIMIT_PER_SECOND', () => {
  test.each(Object.keys(DOORS))(
    'commands by %s: refused beyond the burst and served again after the time; others do not notice',
    async (name) => {
      const { url } = await startServer({ env: { RATE_LIMIT_PER_SECOND: '1' } });
      await publicChat(url);
      const door = DOORS[name]!;
      const [busy, other] = [await door(url, BUSY), await door(url, OTHER)];
      const { served, refused } = await spend(busy, 20);
      // Each second that passes meanwhile gives one more.
      expect(served).toBeGreaterThanOrEqual(10);
      expect(served).toBeLessThan(15);
      expect(refused.error).toMatchObject(limited('rateLimitPerSecond', 1));
      expectRetryAfter(refused, 1000);
      expect((await other()).error).toBeNull();
      await until(async () => (await busy()).error === null, 'a second later', 2500);
    },
  );

  test('counts a user over all doors together, and no user of another tenant', async () => {
    const { url } = await startServer({ env: { RATE_LIMIT_PER_SECOND: '1' } });
    await publicChat(url);
    const asks = await Promise.all(Object.values(DOORS).map((door) => door(url, BUSY)));
    const namesake = await DOORS['a socket']!(url, { ...BUSY, tenantId: 'elsewhere' });
    await spend(asks[0]!, 20);
    for (const ask of asks) expect((await spend(ask, 1)).refused.error).toMatchObject(limited('rateLimitPerSecond', 1));
    expect((await namesake()).error).toBeNull();
  });

  test('TRN-2: what is refused changes nothing, and is told by its own acknowledgement', async () => {
    const here = await scene({ env: { RATE_LIMIT_PER_SECOND: '1' } });
    const raw = await RawSocket.open(here.url, { userId: 'local' });
    const ids = Array.from({ length: 40 }, (_, index) => index);
    for (const id of ids)
      raw.send(
        id % 2 === 0
          ? `42${id}["turn:start",{"chatId":"${here.chatId}","input":"x","requestId":"r${id}"}]`
          : `42${id}["chat:create",{"chatId":"c${id}","assistantId":"bot"}]`,
      );
    const answers = await Promise.all(ids.map((id) => raw.answer(id)));
    const served = ids.filter((id) => answers[id]?.ok);
    expect(served.length).toBeGreaterThan(0);
    expect(served.length).toBeLessThan(20);
    for (const id of ids.filter((one) => !served.includes(one)))
      expect(answers[id]).toMatchObject({ ok: false, error: limited('rateLimitPerSecond', 1) });
    const inputs = () => here.view.events.flatMap((event) => (event.type === 'message.created' ? [event.message] : []));
    const begun = served.filter((id) => id % 2 === 0).map((id) => `r${id}`);
    await until(() => inputs().length >= begun.length, 'the inputs');
    const list = await listed(here.person);
    expect(inputs().map(({ requestId }) => requestId)).toEqual(begun);
    const created = served.filter((id) => id % 2 === 1).map((id) => `c${id}`);
    expect(list.data.map(({ chatId }) => chatId).sort()).toEqual([...created, here.chatId].sort());
  });

  test('AGT-6: what an agent pushes is not counted, its other commands are', async () => {
    const here = await scene({ env: { RATE_LIMIT_PER_SECOND: '2' } });
    const run = await here.turn();
    const messageId = await run.send('');
    for (let round = 0; round < 100; round++) await run.append(messageId, `${round} `);
    const list = async () => ofAck(await here.agent.ask('message:list', { chatId: here.chatId }));
    const { served, refused } = await spend(list, 40);
    expect(served).toBeGreaterThanOrEqual(15);
    expect(refused.error).toMatchObject(limited('rateLimitPerSecond', 2));
    // An agent that has nothing left to ask still says what it has to say.
    await run.append(messageId, 'end');
    await run.close();
    const { turn } = await here.person.ended(here.chatId, run.requestId);
    expect(turn.status).toBe('completed');
    expect(here.view.text(run.requestId)).toMatch(/^0 1 2 .* 99 end$/);
  });

  test('AGT-4: commands that are counted and those that are not begin in the order of their frames', async () => {
    const here = await scene();
    for (let round = 0; round < 20; round++) {
      const run = await here.turn({ onBusy: 'parallel' });
      const messageId = await run.send('');
      here.agent.drop();
      await until(() => here.agent.disconnectReason, 'the cut');
      await here.agent.open();
      const [attached, , , given] = await Promise.all([
        here.agent.attach(),
        run.append(messageId, 'one '),
        run.append(messageId, 'two '),
        here.agent.do<{ lastSeq?: number }>('turn:input', run.frame),
        run.append(messageId, 'three'),
        run.close(),
      ]);
      expect(attached.assigned).toEqual([{ ...run.frame, lastSeq: 1 }]);
      expect(given).toMatchObject({ turn: { requestId: run.requestId } });
      await here.person.ended(here.chatId, run.requestId);
      expect(here.view.text(run.requestId)).toBe('one two three');
    }
  });
});

describe('RATE_LIMIT_BYTES_PER_SECOND', () => {
  const env = { RATE_LIMIT_BYTES_PER_SECOND: '1000' };
  const padding = { metadata: { padding: 'x'.repeat(4000) } };
  const doors: [string, (url: string) => Promise<(chatId: string) => Promise<Outcome>>][] = [
    [
      'a socket',
      async (url) => {
        const person = await new Person(url, BUSY).open();
        return async (chatId) => ofAck(await person.ask('chat:create', { chatId, assistantId: 'echo', ...padding }));
      },
    ],
    ['HTTP', async (url) => (chatId) => post(url, BUSY, '/v1/chats', { chatId, assistantId: 'echo', ...padding })],
  ];

  test.each(doors)('what is sent by %s is bounded, and refused before it does anything', async (_name, door) => {
    const { url } = await startServer({ env });
    const create = await door(url);
    let chats = 0;
    const { served, refused } = await spend(() => create(`c${chats++}`), 10);
    expect(served).toBe(2);
    expect(refused.error).toMatchObject(limited('rateLimitBytesPerSecond', 1000));
    expectRetryAfter(refused, 10_000);
    const person = await new Person(url, BUSY).open();
    // What is small passes all the same, as soon as the second is over.
    const list = await listed(person);
    expect(list.total).toBe(2);
    expect((await post(url, OTHER, '/v1/chats', { assistantId: 'echo', ...padding })).error).toBeNull();
  });

  test('a body counts as what it unpacks to and is not counted as a command of another user', async () => {
    const { url } = await startServer({ env });
    const send = (as: As) =>
      fetch(`${url}/v1/chats`, {
        method: 'POST',
        headers: { ...headersOf(as), 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: new Blob([`{"assistantId":"echo","metadata":{"a":"${'x'.repeat(20_000)}"}}`])
          .stream()
          .pipeThrough(new CompressionStream('gzip')),
        duplex: 'half',
      } as RequestInit).then(ofResponse);
    expect((await send(BUSY)).error).toMatchObject(limited('rateLimitBytesPerSecond', 1000));
    expect((await get(url, '/v1/chats', headersOf(OTHER))).error).toBeNull();
  });
});

describe('MAX_CONNECTIONS_PER_USER', () => {
  const connect: [string, (url: string) => Promise<Outcome>][] = [
    ['a socket', (url) => ofConnecting(new Person(url, BUSY))],
    ["an agent's socket", (url) => ofConnecting(new Agent(url, ['bot'], { as: BUSY }))],
    ['an event stream', (url) => get(url, '/v1/chats/open/events', headersOf(BUSY))],
  ];

  test.each(connect)('CON-6: %s beyond them is refused by name until one goes', async (_name, attempt) => {
    const { url } = await startServer({ env: { MAX_CONNECTIONS_PER_USER: '3' } });
    await publicChat(url);
    const stream = new AbortController();
    await fetch(`${url}/v1/chats/open/events`, { headers: headersOf(BUSY), signal: stream.signal });
    await new Person(url, BUSY).open();
    await new Agent(url, ['bot'], { as: BUSY }).open();
    const refused = await attempt(url);
    expect(refused.error).toMatchObject({
      code: 'too_many_connections',
      retryable: true,
      details: { limit: 'maxConnectionsPerUser', max: 3 },
    });
    expectRetryAfter(refused, 1000);
    expect((await get(url, '/v1/chats', headersOf(BUSY))).error, 'a request is no connection').toBeNull();
    expect((await ofConnecting(new Person(url, OTHER))).error).toBeNull();
    stream.abort();
    await until(async () => (await attempt(url)).error === null, 'a free place');
  });
});

describe('MAX_SUBSCRIPTIONS_PER_CONNECTION', () => {
  const env = { MAX_SUBSCRIPTIONS_PER_CONNECTION: '10' };
  const refusal = { ok: false, error: limited('maxSubscriptionsPerConnection', 10) };

  test('SUB-5: a chat beyond them is refused; one that is followed already is not; another connection has its own', async () => {
    const { url } = await startServer({ env });
    const person = await new Person(url).open();
    const chats = await Promise.all(Array.from({ length: 11 }, () => person.createChat()));
    const beyond = chats.pop() as string;
    for (const chatId of chats) await person.follow(chatId);
    const { error } = (await person.ask('chat:subscribe', { chatId: beyond })) as { error: ErrorBody };
    expect({ ok: false, error }).toMatchObject(refusal);
    expectRetryAfter({ error }, 1000);
    for (const chatId of chats) await person.follow(chatId);
    const second = await new Person(url).open();
    await second.follow(beyond);
    const { turn } = await person.start(beyond, 'one two');
    await second.ended(beyond, turn.requestId);
    expect(person.chats.has(beyond)).toBe(false);
    await person.do('chat:unsubscribe', { chatId: chats[0] });
    await person.follow(beyond);
    await person.do('chat:delete', { chatId: chats[1] });
    await person.follow(await person.createChat());
    expect(await person.ask('chat:subscribe', { chatId: chats[0] })).toMatchObject(refusal);
  });

  test('2,000 in one tick, of chats that are not in memory, are no way around them', async () => {
    const dataDir = temporaryDirectory();
    const before = await startServer({ dataDir });
    const owner = await new Person(before.url).open();
    await Promise.all(Array.from({ length: 50 }, (_, index) => owner.createChat({ chatId: `c${index}` })));
    await before.close();
    const { url } = await startServer({ dataDir, env });
    const raw = await RawSocket.open(url);
    for (let id = 0; id < 2000; id++) {
      const chatId = `c${id % 50}`;
      const command = id % 7 === 3 ? 'chat:unsubscribe' : 'chat:subscribe';
      raw.send(`42${id}[${JSON.stringify([command, { chatId }]).slice(1)}`);
    }
    await Promise.all(Array.from({ length: 2000 }, (_, id) => raw.answer(id)));
    const series = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    const held = Number(series.find((line) => line.startsWith('turnstream_subscriptions '))?.split(' ')[1]);
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThanOrEqual(10);
  });
});

describe('MAX_CHATS_PER_USER', () => {
  const env = { MAX_CHATS_PER_USER: '2' };
  const mine = async (person: Person) => (await person.do<{ total: number }>('chat:list')).total;

  test('refuses by every door what would be one more; what there is stays, and one that is deleted makes room', async () => {
    const { url } = await startServer({ env });
    const [busy, other] = [await new Person(url, BUSY).open(), await new Person(url, OTHER).open()];
    const [chatId] = [await busy.createChat({ chatId: uid('c') }), await busy.createChat()];
    const agent = await new Agent(url, ['bot'], { as: OTHER }).join();
    const beyond = uid('beyond');
    const open = { chatId: beyond, assistantId: 'bot', createChat: { createdBy: 'busy' } };
    const attempts: Outcome[] = [
      ofAck(await busy.ask('chat:create', { chatId: beyond, assistantId: 'echo' })),
      await post(url, BUSY, '/v1/chats', { chatId: beyond, assistantId: 'echo' }),
      ofAck(await busy.ask('turn:start', { chatId: beyond, assistantId: 'echo', input: 'x', createChat: true })),
      ofAck(await agent.ask('turn:open', open)),
    ];
    for (const attempt of attempts) {
      expect(attempt.error).toMatchObject(limited('maxChatsPerUser', 2));
      expectRetryAfter(attempt, 60_000);
    }
    expect(await busy.refused('chat:get', { chatId: beyond })).toMatchObject({ code: 'not_found' });
    expect(await mine(busy)).toBe(2);
    expect(await busy.do('chat:create', { chatId, assistantId: 'echo' })).toMatchObject({ created: false });
    await other.createChat();
    await busy.do('chat:delete', { chatId });
    expect(await agent.do('turn:open', open)).toMatchObject({ turn: { chatId: beyond } });
    expect(await busy.refused('chat:create', { assistantId: 'echo' })).toMatchObject({ code: 'rate_limited' });
  });
});

describe('RATE_LIMIT_PER_ADDRESS', () => {
  const env = { ...JWT_ENV, RATE_LIMIT_PER_ADDRESS: '1', TRUST_PROXY: 'loopback' };
  const from = (address: string, token: string) => ({ 'x-forwarded-for': address, authorization: `Bearer ${token}` });
  const attempts: [string, (url: string, token: string) => Promise<Outcome>][] = [
    ['a socket', (url, token) => ofConnecting(new Person(url), { token })],
    ["an agent's socket", (url, token) => ofConnecting(new Agent(url, ['bot']), { token })],
    ['HTTP', (url, token) => get(url, '/v1/chats', from('127.0.0.1', token))],
    ['an event stream', (url, token) => get(url, '/v1/chats/open/events', from('127.0.0.1', token))],
  ];

  test.each(attempts)('CON-1: who fails by %s too often is not even looked at', async (_name, attempt) => {
    const { url } = await startServer({ env });
    const good = await tokenFor({ userId: 'u', roles: ['user', 'agent'] });
    const bad = await tokenFor({ userId: 'u', roles: ['user', 'agent'] }, { secret: 'y'.repeat(40) });
    for (let round = 0; round < 30; round++) {
      const { error } = await attempt(url, good);
      expect([undefined, 'not_found']).toContain(error?.code);
    }
    for (let round = 0; round < 10; round++)
      expect((await attempt(url, bad)).error).toMatchObject({ code: 'unauthenticated' });
    for (const token of [bad, good]) {
      const refused = await attempt(url, token);
      expect(refused.error).toMatchObject(limited('rateLimitPerAddress', 1));
      expectRetryAfter(refused, 10_000);
    }
    expect((await get(url, '/v1/chats', from('203.0.113.9', good))).error).toBeNull();
    expect((await get(url, '/healthz', {})).error).toBeNull();
  });

  test('CON-5: tokens that are tried by auth:refresh count as well, and who is in stays in', async () => {
    const { url } = await startServer({ env });
    const token = await tokenFor({ userId: 'u' });
    const person = await new Person(url).open({ token });
    for (let round = 0; round < 10; round++)
      expect(await person.refused('auth:refresh', { token: 'a.b.c' })).toMatchObject({ code: 'unauthenticated' });
    const refused = ofAck(await person.ask('auth:refresh', { token }));
    expect(refused.error).toMatchObject(limited('rateLimitPerAddress', 1));
    expect(await person.do('chat:list')).toMatchObject({ total: 0 });
    expect((await ofConnecting(new Person(url), { token })).error).toMatchObject({ code: 'rate_limited' });
    await until(
      async () => (await ofConnecting(new Person(url), { token })).error === null,
      'ten seconds later',
      12_000,
    );
    await person.do('auth:refresh', { token });
  });
});

test('what is refused by a limit shows no more of the server than what is served', async () => {
  const { url } = await startServer({ env: { RATE_LIMIT_PER_SECOND: '1' } });
  const { refused } = await spend(await DOORS['HTTP']!(url, BUSY), 20);
  const headers = refused.headers as Headers;
  expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  expect(headers.has('x-powered-by')).toBe(false);
  expect(Object.keys(refused.error ?? {}).sort()).toEqual(['code', 'details', 'message', 'retryAfterMs', 'retryable']);
});
