import {
  Agent,
  AgentSquad,
  ChatStorage,
  Classifier,
  InMemoryChatStorage,
  Logger,
  type ClassifierResult,
  type ConversationMessage,
} from 'agent-squad';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createChatClient } from '../../client/index.js';
import { createSquadStorage, SquadChatStorage } from '../../stores/agent-squad/index.js';
import { chatIdOf } from '../../stores/chat-id.js';
import { commandsOn, HOSTS } from '../e2e/stores-hosts.js';
import { expectConsistent, httpHistory } from '../harness/consistent.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { until } from '../harness/until.js';

const ANN = { userId: 'ann' };
/** The framework tells the console of each message that it leaves out. */
const silence = () => {
  const nothing = () => undefined;
  const silent = { info: nothing, warn: nothing, error: nothing, debug: nothing, log: nothing };
  // It keeps one logger for all, and sets it to the console's where a constructor is given none.
  Logger.logger = silent;
  return silent;
};
type Answer = (input: string, history: ConversationMessage[]) => string | readonly string[] | Error;

/** An agent whose model is a function: a text, words of a stream, or an error. */
class ScriptedAgent extends Agent {
  readonly histories: string[][] = [];

  constructor(
    name: string,
    private readonly answer: Answer,
    saveChat = true,
  ) {
    super({ name, description: name, saveChat });
  }

  async processRequest(input: string, _user: string, _session: string, history: ConversationMessage[]) {
    this.histories.push(texts(history));
    const said = this.answer(input, history);
    if (said instanceof Error) throw said;
    if (typeof said === 'string') return { role: 'assistant', content: [{ text: said }] } as ConversationMessage;
    return (async function* () {
      for (const word of said) {
        await new Promise((resolve) => setImmediate(resolve));
        yield word;
      }
    })();
  }
}

/** Chooses the agent that an input names: `tech: …`; nobody else's inputs. */
class NamingClassifier extends Classifier {
  readonly heard: string[][] = [];

  async processRequest(input: string, history: ConversationMessage[]): Promise<ClassifierResult> {
    this.heard.push(texts(history));
    return { selectedAgent: this.getAgentById(input.split(':')[0] ?? ''), confidence: 1 };
  }
}

const texts = (messages: readonly { content?: unknown }[]): string[] =>
  messages.map(({ content }) => (content as { text: string }[])[0]?.text ?? '');

const echo = (name: string, saveChat?: boolean) =>
  new ScriptedAgent(name, (input) => `${name} heard ${input}`, saveChat);
const streaming = (name: string) => new ScriptedAgent(name, (input) => [name, ' heard ', input]);

function squadOf(
  storage: ChatStorage,
  agents: readonly Agent[],
  config: { MAX_MESSAGE_PAIRS_PER_AGENT?: number } = {},
) {
  const classifier = new NamingClassifier();
  const squad = new AgentSquad({ storage, classifier, config, logger: silence() });
  for (const agent of agents) squad.addAgent(agent);
  return { squad, classifier };
}

async function answerOf(squad: AgentSquad, input: string, user = 'u', session = 's'): Promise<string> {
  const { output } = await squad.routeRequest(input, user, session);
  if (typeof output === 'string') return output;
  let all = '';
  for await (const word of output as AsyncIterable<string>) all += word;
  return all;
}

describe.each(HOSTS)('agent-squad 2e: AgentSquad %s', (host) => {
  test('its own ChatStorage is the parent, and two agents are routed, remembered and told apart', async () => {
    const server = await startServer();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    expect(storage).toBeInstanceOf(ChatStorage);
    const tech = echo('Tech');
    const { squad, classifier } = squadOf(storage, [tech, streaming('Travel Desk')]);
    expect(await answerOf(squad, 'tech: one')).toBe('Tech heard tech: one');
    expect(await answerOf(squad, 'travel-desk: two')).toBe('Travel Desk heard travel-desk: two');
    await until(async () => (await storage.fetchAllChats('u', 's')).length === 4, 'the streamed answer is saved');
    expect(await answerOf(squad, 'tech: three')).toBe('Tech heard tech: three');
    expect(tech.histories).toEqual([[], ['tech: one', 'Tech heard tech: one']]);
    expect(classifier.heard.at(-1)).toEqual([
      'tech: one',
      '[tech] Tech heard tech: one',
      'travel-desk: two',
      '[travel-desk] Travel Desk heard travel-desk: two',
    ]);
    expect(texts(await storage.fetchChat('u', 's', 'travel-desk'))).toEqual([
      'travel-desk: two',
      'Travel Desk heard travel-desk: two',
    ]);
    const history = await httpHistory(server.url, await chatIdOf('agent-squad', 'u', 's'), ANN);
    expect(history.map(({ role, assistantId }) => assistantId ?? role)).toEqual([
      'user',
      'tech',
      'user',
      'travel-desk',
      'user',
      'tech',
    ]);
  });

  test('a plain SquadChatStorage does as well, and people follow the session live', async () => {
    const server = await startServer();
    const storage = new SquadChatStorage(commandsOn(host, server));
    const { squad } = squadOf(storage as unknown as ChatStorage, [echo('Tech')]);
    await answerOf(squad, 'tech: one');
    const person = await new Person(server.url, ANN).open();
    const chatId = await chatIdOf('agent-squad', 'u', 's');
    const view = await person.follow(chatId);
    await answerOf(squad, 'tech: two');
    await until(() => view.messages.length === 4, 'the second exchange, live');
    expect(view.messages.map(({ props }) => props['content'])).toEqual([
      'tech: one',
      'Tech heard tech: one',
      'tech: two',
      'Tech heard tech: two',
    ]);
    await expectConsistent(server.url, chatId, [person], ANN);
  });

  test('agent-squad 2d: three requests at once keep six messages, streamed or not', async () => {
    const server = await startServer();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    const { squad } = squadOf(storage, [echo('Plain'), streaming('Stream')]);
    for (const agent of ['plain', 'stream']) {
      const inputs = [1, 2, 3].map((index) => `${agent}: ${index}`);
      const answers = await Promise.all(inputs.map((input) => answerOf(squad, input)));
      const saved = await until(async () => {
        const conversation = await storage.fetchChat('u', 's', agent);
        return conversation.length === 6 ? conversation : null;
      }, `six messages of ${agent}`);
      const said = texts(saved);
      expect(new Set(said)).toEqual(new Set([...inputs, ...answers]));
      for (const index of [0, 2, 4]) expect(said[index + 1]?.endsWith(`heard ${said[index]}`)).toBe(true);
      expect(saved.map(({ role }) => role[0]).join('')).toBe('uauaua');
    }
    const chatId = await chatIdOf('agent-squad', 'u', 's');
    expect(await httpHistory(server.url, chatId, ANN)).toHaveLength(12);
  });

  test('agent-squad 2c.16: what is not to be saved, fails, says nothing or finds no agent leaves the session as it was', async () => {
    const server = await startServer();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    const silent = new ScriptedAgent('Silent', () => []);
    const failing = new ScriptedAgent('Failing', () => new Error('no model today'));
    const { squad } = squadOf(storage, [echo('Kept', true), echo('Private', false), silent, failing]);
    expect(await answerOf(squad, 'private: x')).toBe('Private heard private: x');
    expect(await answerOf(squad, 'silent: x')).toBe('');
    expect(await answerOf(squad, 'failing: x')).toMatch(/no model today/);
    expect(await answerOf(squad, 'nobody: x')).toMatch(/rephrase/);
    expect(await storage.fetchAllChats('u', 's')).toEqual([]);
    await answerOf(squad, 'kept: x');
    expect(texts(await storage.fetchAllChats('u', 's'))).toEqual(['kept: x', '[kept] Kept heard kept: x']);
  });

  test('the size of the configuration: of 3, 2 are kept, and every row', async () => {
    const server = await startServer();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    const agent = echo('Tech');
    const { squad } = squadOf(storage, [agent], { MAX_MESSAGE_PAIRS_PER_AGENT: 3 });
    for (const index of [1, 2, 3, 4]) await answerOf(squad, `tech: ${index}`);
    expect(agent.histories.at(-1)).toEqual(['tech: 3', 'Tech heard tech: 3']);
    expect(texts(await storage.fetchChat('u', 's', 'tech'))).toEqual(['tech: 4', 'Tech heard tech: 4']);
    expect(await httpHistory(server.url, await chatIdOf('agent-squad', 'u', 's'), ANN)).toHaveLength(8);
  });

  test('a session goes on over a restart of the server', async () => {
    const dataDir = temporaryDirectory();
    const first = await startServer({ dataDir });
    await answerOf(
      squadOf(createSquadStorage(ChatStorage, commandsOn(host, first)), [echo('Tech')]).squad,
      'tech: one',
    );
    await first.close();
    const second = await startServer({ dataDir });
    const agent = echo('Tech');
    const storage = createSquadStorage(ChatStorage, commandsOn(host, second));
    const { squad } = squadOf(storage, [agent]);
    await answerOf(squad, 'tech: two');
    expect(agent.histories).toEqual([['tech: one', 'Tech heard tech: one']]);
    expect(texts(await storage.fetchChat('u', 's', 'tech'))).toEqual([
      'tech: one',
      'Tech heard tech: one',
      'tech: two',
      'Tech heard tech: two',
    ]);
  });

  test('agent-squad 2d: users and sessions with the separators of the original in their names never meet', async () => {
    const server = await startServer();
    const original = new InMemoryChatStorage();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    for (const [used, leaks] of [
      [original, true],
      [storage, false],
    ] as const) {
      const { squad } = squadOf(used, [echo('Tech')]);
      await answerOf(squad, 'tech: secret', 'u#1', 's');
      // What the original shows to user `u` in session `1`, and not to its owner.
      expect((await used.fetchAllChats('u', '1')).length > 0).toBe(leaks);
      expect((await used.fetchAllChats('u#1', 's')).length > 0).toBe(!leaks);
    }
    await answerOf(squadOf(storage, [echo('Tech')]).squad, 'tech: x', 'u', 's10');
    expect(await storage.fetchAllChats('u', 's1')).toEqual([]);
  });

  test('what it gives is what the original gives, for any row of saves', async () => {
    const server = await startServer();
    const storage = createSquadStorage(ChatStorage, commandsOn(host, server));
    const original = new InMemoryChatStorage();
    silence();
    let seed = 7;
    const below = (bound: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * bound);
    };
    const sizes = [undefined, undefined, undefined, 0, 1, 2, 3, 4, 5, 7, 100, -1, -2, 2.5, Number.NaN];
    for (let index = 0; index < 150; index++) {
      const session = `s${below(2)}`;
      const agent = `agent${below(2)}`;
      const max = sizes[below(sizes.length)];
      const content =
        below(8) === 0 ? undefined : [{ text: `m${index}` }, ...(below(4) === 0 ? [{ image: index }] : [])];
      const message = { role: below(2) ? 'user' : 'assistant', content } as ConversationMessage;
      const expected = await original.saveChatMessage('u', session, agent, message, max);
      expect(await storage.saveChatMessage('u', session, agent, message, max), `save ${index}, max ${max}`).toEqual(
        expected,
      );
      const size = sizes[below(sizes.length)];
      expect(await storage.fetchChat('u', session, agent, size), `fetch ${index}, max ${size}`).toEqual(
        await original.fetchChat('u', session, agent, size),
      );
    }
    // The original orders a session by milliseconds, agent by agent within one: only what it holds can be compared.
    for (const session of ['s0', 's1'])
      expect(texts(await storage.fetchAllChats('u', session)).sort()).toEqual(
        texts(await original.fetchAllChats('u', session)).sort(),
      );
  }, 60_000);
});

test('a client’s storage goes on by itself when the server comes back', async () => {
  const dataDir = temporaryDirectory();
  const first = await startServer({ dataDir });
  const client = createChatClient({ url: first.url, auth: ANN, backoff: { minMs: 5, maxMs: 20 } });
  onTestFinished(() => client.close());
  const storage = createSquadStorage(ChatStorage, client);
  const { squad } = squadOf(storage, [echo('Tech')]);
  await answerOf(squad, 'tech: one');
  await first.close();
  const answer = answerOf(squad, 'tech: two');
  await startServer({ dataDir, env: { PORT: String(first.port) } });
  expect(await answer).toBe('Tech heard tech: two');
  expect(texts(await storage.fetchChat('u', 's', 'tech'))).toEqual([
    'tech: one',
    'Tech heard tech: one',
    'tech: two',
    'Tech heard tech: two',
  ]);
});

test('the inherited helpers are the framework’s own, and a plain storage’s are their like', async () => {
  const server = await startServer();
  // Protected in TypeScript only.
  type Helpers = Pick<SquadChatStorage, 'trimConversation' | 'isConsecutiveMessage'>;
  const parent = createSquadStorage(ChatStorage, server.as(ANN)) as unknown as Helpers;
  const plain = new SquadChatStorage(server.as(ANN));
  const six = Array.from({ length: 6 }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: [{ text: `Message ${index + 1}` }],
  }));
  for (const size of [undefined, 0, 1, 2, 3, 4, 5, 6, 10, 100, -1, -2, -7])
    expect(plain.trimConversation(six, size), `size ${size}`).toEqual(parent.trimConversation(six, size));
  // agent-squad 2c.13
  for (const conversation of [six, six.slice(0, 1), []])
    for (const message of six.slice(0, 2))
      expect(plain.isConsecutiveMessage(conversation, message)).toBe(
        parent.isConsecutiveMessage(conversation, message),
      );
  expect(plain.isConsecutiveMessage(six, six[1]!)).toBe(true);
  expect(plain.isConsecutiveMessage(six, six[0]!)).toBe(false);
  expect(plain.isConsecutiveMessage([], six[0]!)).toBe(false);
});
