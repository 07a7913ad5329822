import { describe, expect, test } from 'vitest';
import type { ChatEvent, Goaway, SubscribeResult } from '../../protocol/index.js';
import { systemClock, type Clock } from '../../server/clock.js';
import type { Run } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { gauge } from '../harness/metric.js';
import { Person } from '../harness/person.js';
import { RawSocket } from '../harness/raw-socket.js';
import { until } from '../harness/until.js';
import { scene, type Scene } from './scene.js';

/** The system's clock, which a test can put forward for those who measure. */
function forwardClock(): Clock & { skip(ms: number): void } {
  let skipped = 0;
  return { ...systemClock, monotonic: () => systemClock.monotonic() + skipped, skip: (ms) => void (skipped += ms) };
}

const BIG = 'x'.repeat(900_000);
const MiB = 1024 * 1024;

const waitingBytes = (url: string) => gauge(url, 'outbox_bytes');

/** A connection that follows the chat and has stopped reading. */
async function stuckReader({ url, chatId }: Scene): Promise<RawSocket> {
  const raw = await RawSocket.open(url);
  await raw.ask('chat:subscribe', JSON.stringify({ chatId }));
  raw.pause();
  return raw;
}

/** Writes large events, until the server is in a state. */
async function fillUntil(run: Run, messageId: string, isReached: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 60; round++) {
    await run.push({ op: 'replace', messageId, props: { content: BIG } });
    if (await isReached()) return;
  }
  throw new Error('never reached');
}

/** Writes until so much waits at the server for one who does not read. */
const fill = (url: string, run: Run, messageId: string, bytes: number) =>
  fillUntil(run, messageId, async () => (await waitingBytes(url)) > bytes);

const goawayOf = async (raw: RawSocket): Promise<Goaway[]> => {
  raw.resume();
  await raw.gone();
  return raw.bodies<Goaway>('goaway');
};

describe('SUB-7: one who does not read', () => {
  test.each([true, false])(
    'SUB-7: is let go when nothing has moved for 10 s, slows nobody else, and comes back by position (direct fan-out: %s)',
    async (isDirectFanOut) => {
      const clock = forwardClock();
      const here = await scene({ clock, isDirectFanOut });
      const { url, person, chatId, view } = here;
      const raw = await stuckReader(here);
      const run = await here.turn();
      const messageId = await run.send('');
      await fill(url, run, messageId, MiB);
      clock.skip(9000);
      const began = performance.now();
      await run.push({ op: 'set', messageId, path: 'n', value: 1 });
      await until(() => view.messages.at(-1)?.props['n'] === 1, 'a reader who reads');
      expect(performance.now() - began).toBeLessThan(1000);
      expect(await waitingBytes(url)).toBeGreaterThan(MiB);
      expect(raw.closed).toBeNull();
      clock.skip(1001);
      await run.push({ op: 'set', messageId, path: 'n', value: 2 });
      await until(async () => (await waitingBytes(url)) === 0, 'the end of the wait');
      expect(await goawayOf(raw)).toEqual([{ code: 'slow_consumer', reconnect: true }]);
      await run.close();
      await person.ended(chatId, run.requestId);
      // What it read is whole and in order; from there it goes on.
      const offsets = raw.bodies<ChatEvent[]>('events').flatMap((batch) => batch.map(({ offset }) => offset));
      expect(offsets).toEqual(offsets.map((_, index) => offsets[0]! + index));
      const back = await new Person(url).open();
      const position = { epoch: view.position!.epoch, offset: offsets.at(-1)! };
      const answer = await back.do<SubscribeResult>('chat:subscribe', { chatId, position });
      expect(answer.position).toEqual(view.position);
      await expectConsistent(url, chatId, [person]);
    },
  );

  test('SUB-7: is let go at once when 16 times as much waits', async () => {
    const here = await scene({ env: { MAX_OUTBOX_BYTES: '65536' } });
    const raw = await stuckReader(here);
    const run = await here.turn();
    const messageId = await run.send('');
    await fillUntil(run, messageId, async () => (await gauge(here.url, 'subscriptions')) === 1);
    expect(await goawayOf(raw)).toEqual([{ code: 'slow_consumer', reconnect: true }]);
    expect(await here.person.ask('chat:list')).toMatchObject({ ok: true });
  });

  test('SUB-7: one who reads slowly is not let go, and misses nothing', async () => {
    const clock = forwardClock();
    const here = await scene({ clock });
    const { url, person, chatId } = here;
    const raw = await stuckReader(here);
    const run = await here.turn();
    const messageId = await run.send('');
    await fill(url, run, messageId, 4 * MiB);
    for (let round = 0; round < 4; round++) {
      clock.skip(6000);
      const before = await waitingBytes(url);
      raw.resume();
      await until(async () => (await waitingBytes(url)) < before, 'some reading');
      raw.pause();
      await fill(url, run, messageId, 2 * MiB);
    }
    await run.close();
    await person.ended(chatId, run.requestId);
    raw.resume();
    await raw.packet((packet) => packet.includes('"turn.ended"'), 'the end');
    const offsets = raw.bodies<ChatEvent[]>('events').flatMap((batch) => batch.map(({ offset }) => offset));
    expect(offsets).toEqual(here.view.events.map(({ offset }) => offset));
    expect(raw.bodies('goaway')).toEqual([]);
  });

  test.each(['/', '/agents'])('SUB-7: answers that nobody reads are bounded too (namespace %s)', async (namespace) => {
    const here = await scene({ env: { MAX_OUTBOX_BYTES: '65536' } });
    const run = await here.turn();
    await run.send(BIG);
    const agentId = 'hungry';
    const raw = await RawSocket.open(here.url, {
      roles: ['user', 'agent'],
      namespace: namespace === '/' ? '' : namespace,
    });
    const head = namespace === '/' ? '42' : `42${namespace},`;
    raw.send(`${head}0["agent:attach",{"agentId":"${agentId}","assistants":[{"assistantId":"hungry"}]}]`);
    await here.person.start(here.chatId, 'x', { assistantId: 'hungry', onBusy: 'parallel' });
    if (namespace !== '/') await raw.packet((packet) => packet.includes('turn:assigned'), 'a turn');
    const connections = () => gauge(here.url, `connections{namespace="${namespace === '/' ? 'people' : 'agents'}"}`);
    const before = await connections();
    raw.pause();
    for (let asked = 1; asked <= 40; asked++) raw.send(`${head}${asked}["message:list",{"chatId":"${here.chatId}"}]`);
    await until(async () => (await connections()) !== before, 'the end of the connection');
    expect((await goawayOf(raw)).length).toBeLessThanOrEqual(1);
    expect(raw.packets.filter((packet) => packet.includes('"messages"')).length).toBeLessThan(40);
  });

  test('SUB-7: signals that nobody reads are bounded too', async () => {
    const here = await scene({ env: { MAX_OUTBOX_BYTES: '65536' } });
    const raw = await stuckReader(here);
    const run = await here.turn();
    for (let round = 0; round < 20; round++) await run.push({ op: 'signal', name: 'n', data: BIG });
    await until(() => here.person.signals.length === 20, 'all signals');
    expect(await goawayOf(raw)).toEqual([{ code: 'slow_consumer', reconnect: true }]);
    expect(raw.bodies('signal').length).toBeLessThan(20);
  });
});
