import { uid, type As } from '../harness/peer.js';
import { Agent } from '../harness/agent.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';

/** Who asks, in the matrices of who may do what; and what they ask about. */

const PEOPLE = {
  owner: { userId: 'owner', teamId: 't1', tenantId: 'n1' },
  'team mate': { userId: 'mate', teamId: 't1', tenantId: 'n1' },
  'same tenant': { userId: 'guest', teamId: 't2', tenantId: 'n1' },
  'no team': { userId: 'loner', tenantId: 'n1' },
  'other tenant': { userId: 'owner', teamId: 't1', tenantId: 'n2' },
  'no tenant': { userId: 'owner', teamId: 't1' },
  'agent of this assistant': { userId: 'agent', tenantId: 'n1', roles: ['agent'] },
  'agent of another': { userId: 'worker', tenantId: 'n1', roles: ['agent'] },
  admin: { userId: 'root', tenantId: 'n1', roles: ['user', 'admin'] },
  'admin of another tenant': { userId: 'owner', teamId: 't1', tenantId: 'n2', roles: ['user', 'admin'] },
} satisfies Record<string, As>;
export type Caller = keyof typeof PEOPLE;
export const CALLERS = Object.keys(PEOPLE) as Caller[];

const SERVES: Partial<Record<Caller, readonly string[]>> = {
  'agent of this assistant': ['bot'],
  'agent of another': ['other'],
};

export const asOf = (caller: Caller): As => PEOPLE[caller];
export const tokenOf = (caller: Caller): Promise<string> => {
  const assistants = SERVES[caller];
  return tokenFor(PEOPLE[caller], assistants ? { assistants } : {});
};

/** Who has no identity here: with which token they come, and what they are told, by each door. */
export const STRANGERS = {
  expired: { token: () => tokenFor(PEOPLE.owner, { expiresIn: -60 }), code: 'token_expired' },
  none: { token: () => Promise.resolve(null), code: 'unauthenticated' },
} as const;

/** The deleted one was open to everybody who could be meant. */
const CHATS = {
  private: {},
  team: { share: 'team' },
  public: { public: true },
  deleted: { share: 'team', public: true },
} as const;
export type Kind = keyof typeof CHATS;
export const KINDS = Object.keys(CHATS) as Kind[];

/** ACC-2, written out: r read, t talk, c change. */
export const RIGHTS: Record<Caller, Record<Kind, string>> = {
  owner: { private: 'rtc', team: 'rtc', public: 'rtc', deleted: '' },
  'team mate': { private: '', team: 'rt', public: 'r', deleted: '' },
  'same tenant': { private: '', team: '', public: 'r', deleted: '' },
  'no team': { private: '', team: '', public: 'r', deleted: '' },
  'other tenant': { private: '', team: '', public: '', deleted: '' },
  'no tenant': { private: '', team: '', public: '', deleted: '' },
  'agent of this assistant': { private: '', team: '', public: 'r', deleted: '' },
  'agent of another': { private: '', team: '', public: 'r', deleted: '' },
  admin: { private: 'rc', team: 'rc', public: 'rc', deleted: '' },
  'admin of another tenant': { private: '', team: '', public: '', deleted: '' },
};

export const DOORS = ['socket', 'HTTP'] as const;
export type Door = (typeof DOORS)[number];
/** Names one caller at one door: what they did can be told from what others did. */
export const tagOf = (caller: Caller, door: Door): string => `${caller} by ${door}`;
export const TAGS = CALLERS.flatMap((caller) => DOORS.map((door) => tagOf(caller, door)));

/** What commands name. `null` where it is for nobody. */
export interface Place {
  readonly chatId: string;
  readonly requestId: string;
  readonly messageId: string;
  readonly stackId: string;
  readonly stepId: string;
  /** Of each caller a chat and a message of the chat, to be deleted. */
  readonly doomedChat: (tag: string) => string;
  readonly doomedMessage: (tag: string) => string;
}

const nameEach = (make: () => string) => {
  const names = new Map<string, string>();
  return (tag: string): string => {
    const name = names.get(tag) ?? make();
    names.set(tag, name);
    return name;
  };
};

/** A place that does not exist. */
export const nowhere = (): Place => ({
  chatId: uid('c'),
  requestId: uid('r'),
  messageId: uid('m'),
  stackId: uid('k'),
  stepId: uid('s'),
  doomedChat: nameEach(() => uid('c')),
  doomedMessage: nameEach(() => uid('m')),
});

export async function scene(env: Record<string, string> = {}) {
  const server = await startServer({ env: { ...JWT_ENV, RATE_LIMIT_PER_ADDRESS: '100000', ...env } });
  const owner = await openPerson(server.url, 'owner');
  const agent = new Agent(server.url, ['bot'], { as: PEOPLE['agent of this assistant'], concurrency: 1000 });
  await agent.open({ token: await tokenOf('agent of this assistant') });
  await agent.attach();
  return { server, url: server.url, owner, agent };
}

export const openPerson = async (url: string, caller: Caller): Promise<Person> =>
  new Person(url, PEOPLE[caller]).open({ token: await tokenOf(caller) });

/** A chat of that kind that the owner follows, with an ended turn, a message and a step in it. */
export async function furnish(owner: Person, agent: Agent, kind: Kind, tags: readonly string[] = []): Promise<Place> {
  const settings = CHATS[kind];
  const create = (): Promise<string> => owner.createChat({ assistantId: 'bot', ...settings });
  const chatId = await create();
  await owner.follow(chatId);
  const { turn } = await owner.start(chatId, 'go');
  const run = await agent.run(turn.requestId);
  const stepId = uid('s');
  await run.push({ op: 'step.start', stepId, type: 'llm', input: 'secret' });
  const messageId = await run.send('answer');
  const messages = new Map<string, string>();
  for (const tag of tags) messages.set(tag, await run.send(tag));
  await run.close();
  await owner.ended(chatId, turn.requestId);
  const chats = new Map<string, string>();
  for (const tag of tags) chats.set(tag, await create());
  const deleted = kind === 'deleted' ? [chatId, ...chats.values()] : [];
  for (const gone of deleted) await owner.do('chat:delete', { chatId: gone });
  return {
    chatId,
    requestId: turn.requestId,
    messageId,
    stackId: run.stackId,
    stepId,
    doomedChat: (tag) => String(chats.get(tag)),
    doomedMessage: (tag) => String(messages.get(tag)),
  };
}
