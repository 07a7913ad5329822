import { describe, expect, test } from 'vitest';
import { defineAssistant, type Assistant } from '../../assistant/index.js';
import type { Chat } from '../../client/index.js';
import { ChatError, isEnded, type Result } from '../../protocol/index.js';
import { httpHistory, plain } from '../harness/consistent.js';
import { Proxy } from '../harness/proxy.js';
import { agentOf, clientOf, opened } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { chosen, Random } from './random.js';

/**
 * Two clients and an agent, by the SDKs, over networks that cut and freeze at any frame: in the end everything asked for
 * has been answered, every turn has ended, and all views are the history. FUZZ_SEED as in fuzz.test.ts.
 */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const ROUNDS = Number(process.env['FUZZ_CLIENT_ROUNDS'] ?? 6);
const DEEDS = 60;
const CUT_CHANCE = 1 / 40;
const REST_MS = 15_000;

/** What the race of two people, or a view that was behind, can lead to. */
const EXPECTED = new Set(['not_found', 'conflict', 'queue_full', 'turn_not_resumable', 'bad_request']);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Streams so many words, in small steps, among other messages; fails now and then. */
const talker = (random: Random): Assistant =>
  defineAssistant({
    assistantId: 'bot',
    async run(ctx) {
      const messageId = await ctx.send('');
      const words = random.between(5, 60);
      for (let word = 0; word < words && !ctx.abortSignal.aborted; word++) {
        await ctx.append(messageId, `${word} `);
        if (random.chance(0.25)) await pause(random.between(0, 2));
        if (random.chance(0.03)) await ctx.send({ type: 'card', props: { word } });
      }
      if (random.chance(0.15)) throw new Error('as planned');
    },
  });

function deed(random: Random, chat: Chat, network: Proxy): Promise<unknown> {
  const { messages, turns, running } = chat.view.getSnapshot();
  const closed = messages.filter(({ state }) => state === 'closed');
  const messageId = chosen(closed, random.fraction())?.messageId;
  const last = [...turns.values()].findLast(({ status }) => isEnded(status))?.requestId;
  const none = Promise.resolve();
  switch (random.between(0, 11)) {
    case 0:
    case 1:
      return chat.start('input', { onBusy: random.pick(['enqueue', 'parallel', 'interrupt']) });
    case 2:
      return running ? chat.stop(running.requestId) : none;
    case 3:
      return chat.loadOlder(random.between(1, 10));
    case 4:
      return messageId ? chat.deleteMessages([messageId]) : none;
    case 5:
      return messageId ? chat.updateMessage(messageId, { props: { content: 'edited' } }) : none;
    case 6:
      return last ? chat.resume({ requestId: last }) : none;
    case 7:
      return last ? chat.regenerate(last) : none;
    case 8:
      return chat.update({ title: `${random.fraction()}` });
    case 9:
      network.cut();
      return none;
    case 10:
      network.freeze();
      return pause(random.between(0, 40)).then(() => (random.chance(0.5) ? network.thaw() : network.cut()));
    default:
      chat.close();
      return pause(random.between(0, 30)).then(() => chat.open());
  }
}

describe(`the SDKs over bad networks, FUZZ_SEED=${seed}`, () => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'round %s: DAT-4, C06, C17, C40, AGT-4, SUB-4',
    async (round) => {
      const random = Random.of(seed, `client round ${round}`);
      const env = { COALESCE_MS: random.pick(['0', '10']), LOG_MAX_EVENTS: random.pick(['20', '100', '2000']) };
      const { url } = await startServer({ env });
      const networks = await Promise.all([Proxy.to(url), Proxy.to(url), Proxy.to(url)] as const);
      await agentOf(networks[0].url, [talker(random)], { flushMs: random.between(0, 2) });
      const { chatId } = (await clientOf(url).call('chat:create', { assistantId: 'bot' })).chat;
      const follow = (network: Proxy): Promise<Chat> => {
        const options = { messageLimit: random.between(5, 25), leaveGraceMs: random.pick([0, 10]) };
        return opened(clientOf(network.url, options), chatId);
      };
      const chats = await Promise.all([follow(networks[1]), follow(networks[2])]);
      for (const network of networks) network.fate = () => (random.chance(CUT_CHANCE) ? 'cut' : 'pass');

      const unexpected: string[] = [];
      const waiting = new Set<Promise<void>>();
      for (let index = 0; index < DEEDS; index++) {
        const done = deed(random, random.pick(chats), random.pick(networks)).then(
          () => void waiting.delete(done),
          (error: unknown) => {
            waiting.delete(done);
            if (!(error instanceof ChatError) || !EXPECTED.has(error.code)) unexpected.push(String(error));
          },
        );
        waiting.add(done);
        if (random.chance(0.4)) await pause(random.between(0, 25));
      }
      await until(() => waiting.size === 0, 'an answer to everything', REST_MS);
      for (const network of networks) network.release();
      expect(unexpected).toEqual([]);

      const turns = async () => {
        const response = await fetch(`${url}/v1/chats/${chatId}/turns?limit=200`);
        return ((await response.json()) as Result<'turn:list'>).turns;
      };
      await until(async () => (await turns()).every(({ status }) => isEnded(status)), 'the end of all turns', REST_MS);
      const late = await opened(clientOf(url), chatId);
      const history = await httpHistory(url, chatId);
      const ended = new Map((await turns()).map((turn) => [turn.requestId, turn]));
      const inputs = history.flatMap(({ role, requestId }) => (role === 'user' ? [requestId] : []));
      expect(new Set(inputs).size, 'C06: each input once').toBe(inputs.length);
      for (const chat of chats) {
        const offset = late.view.getSnapshot().position?.offset;
        const isThere = () => {
          const { status, position } = chat.view.getSnapshot();
          return status === 'live' && position?.offset === offset;
        };
        await until(isThere, 'a view at the frontier', REST_MS);
        while (chat.view.getSnapshot().hasMore) await chat.loadOlder(200);
        const view = chat.view.getSnapshot();
        expect(view.messages.map(plain), 'DAT-4: view = history').toEqual(history.map(plain));
        expect(view.pending.filter(({ error }) => error === null)).toEqual([]);
        for (const [requestId, turn] of view.turns) expect(turn).toEqual(ended.get(requestId));
      }
    },
  );
});
