import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatSnapshot } from '../../../client/index.js';
import { scene } from './connected.js';
import { settle } from './fake-clock.js';
import { ModelServer } from './model-server.js';
import { CHAT } from './rows.js';

const action = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('happen' as const), kind: fc.nat(9), pick: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'take' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'answer' as const }) },
  { weight: 8, arbitrary: fc.constant({ do: 'deliver' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'lose' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'drop' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'connect' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose log' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'load older' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'leave' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(500) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A client and a model server, and what can go on between them. */
async function play(actions: readonly Action[]): Promise<void> {
  const made = scene();
  const chat = made.client.chat(CHAT);
  let solidFrom = 0;
  const server = new ModelServer(({ epoch, offset }, from) => {
    // An answer that came after its time was not taken.
    const { position } = chat.view.getSnapshot();
    if (position?.epoch === epoch && position.offset >= offset) solidFrom = from;
  });
  let epochs = 1;
  let leave = chat.view.subscribe(() => undefined);

  const connect = async (): Promise<void> => {
    const link = await made.network.next();
    if (link.state !== 'connecting') return;
    server.connect(link);
    link.open();
  };

  /** DAT-4: what is shown is the fold of the log at the position that it speaks of. */
  const check = (snapshot: ChatSnapshot): void => {
    if (!snapshot.position) return;
    const truth = server.chat.at(snapshot.position);
    expect(snapshot.chat).toEqual(truth.chat);
    const isSolid = ({ sequence }: { sequence: number }): boolean => sequence >= solidFrom;
    expect(snapshot.messages.filter(isSolid)).toEqual(truth.messages.filter(isSolid));
    for (const [requestId, turn] of snapshot.turns) expect(turn).toEqual(truth.turns.get(requestId));
  };

  const run = async (step: Action): Promise<void> => {
    switch (step.do) {
      case 'happen':
        return server.publish([server.chat.happen(step.kind, step.pick)]);
      case 'take':
        return void server.take();
      case 'answer':
        return void server.answer();
      case 'deliver':
        return void server.deliver();
      case 'lose':
        return server.lose();
      case 'drop':
        server.disconnect();
        if (made.network.links.at(-1)?.state === 'open') made.network.link.drop();
        return;
      case 'connect':
        made.clock.advance(10_000);
        return connect();
      case 'lose log':
        return server.chat.loseLog(`e${++epochs}`);
      case 'load older':
        void chat.loadOlder(2).catch(() => undefined);
        return;
      case 'leave':
        leave();
        made.clock.advance(1_000);
        leave = chat.view.subscribe(() => undefined);
        return;
      case 'wait':
        return made.clock.advance(step.ms);
    }
  };

  for (const step of actions) {
    await run(step);
    await settle();
    check(chat.view.getSnapshot());
  }

  // In the end the network is well, and something is said that shows whatever was lost before.
  for (let round = 0; round < 60; round++) {
    if (round % 10 === 0) server.publish([server.chat.happen(6, round)]);
    made.clock.advance(10_000);
    await connect();
    while (server.take() || server.answer() || server.deliver()) await settle();
    check(chat.view.getSnapshot());
  }
  const end = chat.view.getSnapshot();
  const { messages, position, chat: row } = server.chat.view;
  const held = messages.slice(messages.length - end.messages.length);
  expect(end).toMatchObject({ status: 'live', position, chat: row });
  expect(end.messages).toEqual(held);
  // The other way round it may be wrong: what was older may have been deleted, of which nothing older is heard.
  if (held.length < messages.length) expect(end.hasMore).toBe(true);
  leave();
  made.client.close();
  made.clock.advance(60_000);
  expect(made.clock.pending).toBe(0);
}

describe('a view, whatever the network does', () => {
  it('SUB-3, SUB-4, DAT-4: is the fold of the log at its position, at every moment and in the end', async () => {
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 120 }), play), { numRuns: 150 });
  });
});
