import { createChatClient, type ChatClient, type ChatClientOptions } from '../../../client/index.js';
import { FakeClock } from './fake-clock.js';
import { FakeIds, FakeTransport, fakeWake, type FakeLink } from './fake-transport.js';

export interface Scene {
  readonly client: ChatClient;
  readonly clock: FakeClock;
  readonly ids: FakeIds;
  readonly network: FakeTransport;
  readonly wake: () => void;
}

/** A client over a network, a clock and a chance that the test plays. */
export function scene(options: ChatClientOptions = {}): Scene {
  const clock = new FakeClock();
  const ids = new FakeIds();
  const network = new FakeTransport();
  const { source, wake } = fakeWake();
  const client = createChatClient({ transport: network, clock, ids, wake: source, ...options });
  return { client, clock, ids, network, wake };
}

/** The same, connected. */
export async function connectedScene(options: ChatClientOptions = {}): Promise<Scene & { link: FakeLink }> {
  const made = scene(options);
  const link = (await made.network.next()).open();
  return { ...made, link };
}

/** Loses the connection and has it back. */
export async function reconnect({ clock, network }: Scene): Promise<FakeLink> {
  network.link.drop();
  clock.advance(60_000);
  return (await network.next()).open();
}
