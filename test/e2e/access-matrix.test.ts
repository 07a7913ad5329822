import { describe, expect, test } from 'vitest';
import { agentCommands, commands, type CommandName, type ErrorBody } from '../../protocol/index.js';
import type { Person } from '../harness/person.js';
import { Peer } from '../harness/peer.js';
import { tokenFor } from '../harness/tokens.js';
import { until } from '../harness/until.js';
import { askByPath, askByRequest, askBySocket, type Told } from './access-asking.js';
import {
  asOf,
  CALLERS,
  DOORS,
  furnish,
  KINDS,
  nowhere,
  openPerson,
  scene,
  STRANGERS,
  tagOf,
  TAGS,
  tokenOf,
  type Caller,
  type Door,
  type Kind,
  type Place,
} from './access-callers.js';
import { AGENT_ROWS, CROSSED, OPERATIONS, OTHER_ROUTES, ROWS, SPOKEN_ROUTES, WORKERS } from './access-rows.js';
import { startHttp } from './http-server.js';
import { bearerOf, headersOf, responseTo } from './request-as.js';

/** A thousand questions, on a machine that may have other things to do. */
const TIMEOUT_MS = 90_000;

const NAMES = Object.keys(ROWS) as CommandName[];

interface Layer {
  readonly route?: { readonly path: string };
  readonly handle: { readonly stack?: readonly Layer[] };
}
const pathsOf = (stack: readonly Layer[]): string[] =>
  stack.flatMap(({ route, handle }) => (route ? [route.path] : pathsOf(handle.stack ?? [])));

/** One who asks, at each of the doors that a command has. */
class Asker {
  private constructor(
    readonly caller: Caller,
    readonly url: string,
    readonly person: Person,
    readonly token: string,
  ) {}

  static async of(url: string, caller: Caller): Promise<Asker> {
    return new Asker(caller, url, await openPerson(url, caller), await tokenOf(caller));
  }

  ask(door: Door, name: CommandName, args: Record<string, unknown>): Promise<Told> {
    if (door === 'socket') return askBySocket(this.person, name, args);
    return askByRequest(this.url, this.token, name, args);
  }
}

/** A command at a door where it does not stand is none. */
const isAt = (door: Door, name: CommandName): boolean =>
  door === 'socket' ? commands[name].socket : commands[name].http !== undefined;

/** Every row, asked by one caller at each door; each refusal of what cannot be read beside that of what is not there. */
async function walk(asker: Asker, kind: Kind, place: Place): Promise<void> {
  const { caller, url, token } = asker;
  const unknown = nowhere();
  const look = async (what: string, expected: string, ask: (place: Place) => Promise<Told>): Promise<void> => {
    const told = await ask(place);
    expect.soft(told.outcome, what).toBe(expected);
    if (expected !== 'not_found') return;
    expect.soft(told.words, `CMD-1: ${what}, as if it were not there`).toEqual((await ask(unknown)).words);
  };
  for (const door of DOORS) {
    const by = tagOf(caller, door);
    for (const name of NAMES.filter((name) => isAt(door, name)))
      for (const [index, { args, expects }] of ROWS[name].entries())
        await look(`${name} (${index}) on ${kind} by ${by}`, expects(caller, kind), async (where) =>
          asker.ask(door, name, await args(where, by, caller)),
        );
  }
  for (const { path, args, expects } of OTHER_ROUTES)
    await look(`${path} on ${kind} by ${caller}`, expects(caller, kind), async (where) =>
      askByPath(url, token, path, await args(where, '', caller)),
    );
}

/** Who has done what, by what the owner has seen and finds. */
async function deedsOf(owner: Person, { chatId, doomedChat, doomedMessage }: Place) {
  const { events = [] } = owner.chats.get(chatId) ?? {};
  const { messages } = await owner.do('message:list', { chatId, limit: 200 });
  const standing = new Set(messages.map(({ messageId }) => messageId));
  const chats: string[] = [];
  for (const tag of TAGS) {
    const ack = await owner.ask('chat:get', { chatId: doomedChat(tag) });
    if (!ack.ok) chats.push(tag);
  }
  return {
    'chat:update': events.flatMap((event) => (event.type === 'chat.updated' ? [String(event.chat.title)] : [])),
    'message:update': events.flatMap((event) =>
      event.type === 'message.updated' ? [event.message.metadata?.['by'] as string] : [],
    ),
    'message:delete': TAGS.filter((tag) => !standing.has(doomedMessage(tag))),
    'chat:delete': chats,
    'turn:start': [...new Set(events.flatMap((event) => (event.type === 'turn.queued' ? [event.turn.createdBy] : [])))],
    typing: [
      ...new Set(owner.presences.flatMap(({ users }) => users.flatMap(({ userId, typing }) => (typing ? userId : [])))),
    ],
  };
}

/** What they have to have done: those who may change, at both doors; those who may talk. */
function deedsDue(kind: Exclude<Kind, 'deleted'>) {
  const changers = ['owner by socket', 'owner by HTTP', 'admin by socket', 'admin by HTTP'].sort();
  const talkers = kind === 'team' ? ['mate', 'owner'] : ['owner'];
  return {
    'chat:update': changers,
    'message:update': changers,
    'message:delete': changers,
    'chat:delete': changers,
    'turn:start': talkers,
    typing: talkers,
  };
}

const sorted = (deeds: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(deeds).map(([name, tags]) => [name, [...tags].sort()]));

describe('ACC-1, ACC-2, CMD-1: the matrix of who may do what', () => {
  test('ACC-2: each command and each route is in the matrix', async () => {
    expect(Object.keys(ROWS).sort()).toEqual(Object.keys(commands).sort());
    expect(Object.keys(AGENT_ROWS).sort()).toEqual(Object.keys(agentCommands).sort());
    const rows = [...Object.values(ROWS), ...Object.values(AGENT_ROWS)];
    expect(rows.filter((some) => some.length === 0)).toEqual([]);
    await using server = await startHttp();
    const { stack } = server.app.handle.router as unknown as { readonly stack: readonly Layer[] };
    const asked = [
      ...Object.values(commands).flatMap(({ http }) => (http ? [http.path] : [])),
      ...OTHER_ROUTES.map(({ path }) => path),
      ...SPOKEN_ROUTES,
      ...OPERATIONS,
    ];
    expect([...new Set(pathsOf(stack)), '/docs'].sort()).toEqual([...new Set(asked)].sort());
  });

  test.each(KINDS)(
    'ACC-1, ACC-2, CMD-1: every command and route × every caller on a %s chat',
    { timeout: TIMEOUT_MS },
    async (kind) => {
      const { url, owner, agent } = await scene();
      const place = await furnish(owner, agent, kind, TAGS);
      const askers = await Promise.all(CALLERS.map((caller) => Asker.of(url, caller)));
      await Promise.all(askers.map((asker) => walk(asker, kind, place)));
      if (kind === 'deleted') return;
      // Beside the answers: what was refused has not been done, and what was granted has.
      const due = deedsDue(kind);
      await until(() => owner.presences.length > 0, 'presence');
      await until(async () => {
        const { typing } = await deedsOf(owner, place);
        return typing.length >= due.typing.length;
      }, 'those who type');
      expect(sorted(await deedsOf(owner, place))).toEqual(due);
    },
  );

  test.each(KINDS)('ACC-1, CMD-1: what may not be seen is not found through one’s own chat (%s)', async (kind) => {
    const { url, owner, agent } = await scene();
    const place = await furnish(owner, agent, kind);
    for (const caller of ['other tenant', 'same tenant'] as const) {
      if (caller === 'same tenant' && kind === 'public') continue;
      const asker = await Asker.of(url, caller);
      const own = { ...nowhere(), chatId: await asker.person.createChat() };
      await asker.person.follow(own.chatId);
      const { turn, messages } = await asker.person.start(own.chatId, 'mine');
      await asker.person.ended(own.chatId, turn.requestId);
      const mine = { ...own, requestId: turn.requestId, messageId: String(messages[0]?.messageId) };
      for (const door of DOORS)
        for (const [index, { name, args }] of CROSSED.entries()) {
          const told = await asker.ask(door, name, args(place, mine));
          const control = await asker.ask(door, name, args(nowhere(), mine));
          expect.soft(told, `${name} (${index}) on ${kind} by ${tagOf(caller, door)}`).toEqual(control);
        }
    }
    if (kind !== 'deleted')
      expect((await owner.do('message:list', { chatId: place.chatId })).messages.map(({ state }) => state)).toEqual([
        'closed',
        'closed',
      ]);
  });

  test('ACC-1: an id that is taken is told in the same words, whether its chat lives or was deleted', async () => {
    const { url, owner, agent } = await scene();
    const living = await furnish(owner, agent, 'private');
    const deleted = await furnish(owner, agent, 'deleted');
    for (const caller of ['other tenant', 'team mate'] as const) {
      const asker = await Asker.of(url, caller);
      for (const door of DOORS)
        for (const [name, more] of [
          ['chat:create', {}],
          ['turn:start', { input: 'x', createChat: true }],
        ] as const) {
          const ask = ({ chatId }: Place) => asker.ask(door, name, { chatId, assistantId: 'echo', ...more });
          const told = await ask(living);
          expect(told.outcome).toBe('conflict');
          expect.soft(told, `${name} by ${tagOf(caller, door)}`).toEqual(await ask(deleted));
        }
    }
  });

  test('CMD-1: a command that has no place on a socket is none there, whoever asks', async () => {
    const { url, owner, agent } = await scene();
    const place = await furnish(owner, agent, 'private');
    const names = NAMES.filter((name) => !isAt('socket', name));
    expect(names.length).toBeGreaterThan(0);
    for (const caller of CALLERS) {
      const person = await openPerson(url, caller);
      for (const name of names)
        for (const { args } of ROWS[name])
          expect(await person.refused(name, await args(place, '', caller)), `${name} by ${caller}`).toMatchObject({
            code: 'bad_request',
          });
    }
  });
});

/** What a socket that is not let in is told. */
const refusedAt = async (url: string, namespace: '/' | '/agents', token: string | null): Promise<ErrorBody> => {
  const opened = new Peer(url, namespace, asOf('owner')).open(token === null ? {} : { token });
  return opened.then(
    () => Promise.reject(new Error(`${namespace} let it in`)),
    (error: unknown) => (error as { data: ErrorBody }).data,
  );
};

describe('ACC-1: without an identity', () => {
  test.each(['expired', 'none'] as const)('ACC-1, CON-1: every door is closed to a token that is %s', async (name) => {
    const { url, owner, agent } = await scene();
    const { code, token: make } = STRANGERS[name];
    const token = await make();
    const unknown = nowhere();
    for (const namespace of ['/', '/agents'] as const)
      expect(await refusedAt(url, namespace, token), namespace).toMatchObject({ code });
    for (const kind of KINDS) {
      const place = await furnish(owner, agent, kind, TAGS);
      for (const command of NAMES.filter((command) => isAt('HTTP', command)))
        for (const { args } of ROWS[command]) {
          const ask = async (where: Place) =>
            askByRequest(url, token, command, await args(where, tagOf('owner', 'HTTP'), 'owner'));
          const told = await ask(place);
          expect.soft(told.outcome, `${command} on ${kind}`).toBe(code);
          expect.soft(told.words, `${command} on ${kind}`).toEqual((await ask(unknown)).words);
        }
      for (const { path, args } of OTHER_ROUTES)
        expect.soft((await askByPath(url, token, path, await args(place, '', 'owner'))).outcome, path).toBe(code);
    }
  });

  test('ACC-1: what operators ask for needs no identity, and tells of no chat', async () => {
    const { url, owner, agent } = await scene();
    const { chatId, requestId, stackId } = await furnish(owner, agent, 'public');
    const tokens = [null, await STRANGERS.expired.token(), await tokenOf('owner'), 'no.token.at-all'];
    for (const path of OPERATIONS)
      for (const token of tokens) {
        const response = await fetch(url + path, { headers: bearerOf(token) });
        expect(response.status, path).toBe(200);
        const text = await response.text();
        for (const secret of [chatId, requestId, stackId, 'owner', 'secret'])
          if (!path.endsWith('.json') || secret === chatId) expect(text, path).not.toContain(secret);
      }
  });

  test.each(['user', 'admin'])('ACC-3: a %s who is no agent has no place on /agents', async (role) => {
    const { url } = await scene();
    const token = await tokenFor({ ...asOf('owner'), roles: ['user', role] });
    expect(await refusedAt(url, '/agents', token)).toMatchObject({ code: 'forbidden' });
    await new Peer(url, '/', asOf('owner')).open({ token });
  });

  test('ACC-1, CON-1: beside a token nothing is believed that a caller says of themselves', async () => {
    const { url, owner, agent } = await scene();
    const place = await furnish(owner, agent, 'private', TAGS);
    const token = await tokenOf('same tenant');
    const said = { ...asOf('owner'), roles: ['user', 'agent', 'admin'] };
    const person = await new Peer(url, '/', said).open({ token });
    expect(person.hello?.user).toEqual({ ...asOf('same tenant'), roles: ['user'] });
    for (const name of ['chat:get', 'step:list', 'chat:update', 'chat:delete'] as const)
      for (const { args } of ROWS[name]) {
        const given = await args(place, tagOf('owner', 'socket'), 'owner');
        expect(await person.refused(name, given), name).toMatchObject({ code: 'not_found' });
        const response = await responseTo(url, { ...headersOf(said), ...bearerOf(token) }, name, given);
        expect(response.status, `${name} over HTTP`).toBe(404);
        await response.text();
      }
    await expect(new Peer(url, '/agents', said).open({ token })).rejects.toMatchObject({ data: { code: 'forbidden' } });
  });

  test('CON-5: a connection whose token has ended is served nothing, whatever it asks', async () => {
    const { url, owner, agent } = await scene({ AUTH_GRACE_MS: '60000' });
    const place = await furnish(owner, agent, 'public', TAGS);
    const exp = Date.now() / 1000 + 3;
    const people = new Peer(url, '/');
    const worker = new Peer(url, '/agents');
    const { as } = WORKERS.holder;
    await people.open({ token: await tokenFor(asOf('owner'), { claims: { exp } }) });
    await worker.open({ token: await tokenFor(as, { assistants: ['bot'], claims: { exp } }) });
    await until(() => [people, worker].every(({ goaways }) => goaways[0]?.code === 'token_expired'), 'goaway');
    for (const name of NAMES.filter((name) => isAt('socket', name) && name !== 'auth:refresh'))
      for (const { args } of ROWS[name])
        expect(await people.refused(name, await args(place, tagOf('owner', 'socket'), 'owner')), name).toMatchObject({
          code: 'token_expired',
        });
    const work = { ...place, otherChatId: place.chatId, frame: { requestId: place.requestId, attempt: 1 }, seq: 1 };
    for (const [name, rows] of Object.entries(AGENT_ROWS).filter(([name]) => name !== 'auth:refresh'))
      for (const { args } of rows)
        expect(await worker.refused(name, await args(work, WORKERS.holder)), name).toMatchObject({
          code: 'token_expired',
        });
    for (const peer of [people, worker])
      expect(await peer.refused('auth:refresh', { token: 'no.token.at-all' })).toMatchObject({
        code: 'unauthenticated',
      });
    expect(await people.do('auth:refresh', { token: await tokenOf('owner') })).toHaveProperty('expiresAt');
    expect(await people.do('chat:get', { chatId: place.chatId })).toHaveProperty('chat');
  });
});
