import { Agent, type Run } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import { Person, type FollowedChat } from '../harness/person.js';
import { startServer, type ServerOptions, type TestServer } from '../harness/server.js';

/** What most black-box tests begin with: a server, a person who follows a chat from its beginning, and an agent that answers in it. */
export interface Scene {
  readonly server: TestServer;
  readonly url: string;
  readonly person: Person;
  readonly agent: Agent;
  readonly chatId: string;
  readonly view: FollowedChat;
  /** Starts a turn that the agent holds. */
  readonly turn: (more?: Record<string, unknown>) => Promise<Run>;
}

export async function scene(options: ServerOptions = {}): Promise<Scene> {
  const server = await startServer(options);
  const agent = await new Agent(server.url, ['bot'], { concurrency: 100 }).join();
  const person = await new Person(server.url).open();
  const chatId = await person.createChat({ assistantId: 'bot' });
  const view = await person.follow(chatId);
  return {
    server,
    url: server.url,
    person,
    agent,
    chatId,
    view,
    async turn(more = {}) {
      const requestId = uid('r');
      await person.start(chatId, 'go', { requestId, ...more });
      return agent.run(requestId);
    },
  };
}
