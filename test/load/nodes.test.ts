import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { AskedChat, ConversationsOptions, Heard, Told } from '../../bench/load/conversations.js';
import { Delays } from '../../bench/load/turns-heard.js';
import { machineLine } from '../../bench/machine.js';
import { figure, format } from '../../bench/report.js';
import { Subject } from '../../bench/subjects/subject.js';
import { Nodes } from '../harness/nodes.js';
import { describeOnRedis } from '../harness/services.js';
import { Costs } from './costs.js';

const setting = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const SECONDS = setting('LOAD_SECONDS', 120);
const CONNECTIONS = setting('LOAD_CONNECTIONS', 2000);
const TURNS = setting('LOAD_TURNS', 200);
/** A turn of ten seconds, as a model says it. */
const PACE = { tokens: 400, perSecond: 40 };
/** Processes that make the load. */
const LOADS = 2;
/** To make the connections, and for what is late to come. */
const BESIDE_MS = 240_000;

const env = {
  ASSISTANTS: fileURLToPath(new URL('pace.mjs', import.meta.url)),
  MAX_CONNECTIONS_PER_USER: String(CONNECTIONS + 1),
  RATE_LIMIT_PER_SECOND: '1000000',
};

describeOnRedis(`${CONNECTIONS} connections, ${TURNS} streaming turns, two nodes, ${SECONDS} s`, () => {
  const title =
    'LIF-4, TRN-4, SUB-6: every follower at every node hears every token once and in order, and all are stored';
  test(title, { timeout: 1000 * SECONDS + BESIDE_MS }, async () => {
    const nodes = new Nodes();
    const servers = [await nodes.process(env), await nodes.process(env)];
    const ports = servers.map(({ url }) => Number(new URL(url).port));
    const loads = await Promise.all(Array.from({ length: LOADS }, (_, i) => startLoad(`load ${i + 1}`, ports)));
    await Promise.all(
      loads.map((load, i) => load.call('gather', { chats: chats.filter(({ at }) => at % LOADS === i) })),
    );

    const costs = await Costs.open(nodes.env, {
      nodes: servers.map(({ pid }) => pid),
      loads: loads.map(({ pid }) => pid),
    });
    onTestFinished(() => costs.close());
    await costs.begin();
    const during = await Promise.all(loads.map((load) => load.call<Heard>('talk', { ms: 1000 * SECONDS })));
    const cost = await costs.end();
    const shares = await Promise.all(loads.map((load) => load.call<Told>('finish')));
    await Promise.all(loads.map((load) => load.call('checkStored')));

    const sum = (of: (told: Told) => number): number => shares.reduce((all, told) => all + of(told), 0);
    const running = sum((told) => told.running);
    const faults = {
      lost: sum(({ faults }) => faults.lost),
      twice: sum(({ faults }) => faults.twice),
      late: sum(({ faults }) => faults.late),
      torn: sum(({ faults }) => faults.torn),
      closed: sum(({ closed }) => closed),
    };
    const rate = (of: (share: Heard) => number): string =>
      figure(during.reduce((all, share) => all + of(share), 0) / cost.seconds);
    const heard = sum((told) => told.heard);
    const held = sum((told) => told.heldPerSecond) / LOADS;
    const own = delays(shares.map((told) => told.own));
    const other = delays(shares.map((told) => told.other));
    console.log(
      `\n${machineLine('not pinned')}\n\n` +
        format({
          title: `${CONNECTIONS} connections at two nodes, ${TURNS} chats, ${SECONDS} s`,
          columns: ['what', 'figure'],
          rows: [
            ['turns ended, running at a time', `${sum(({ turns }) => turns)}, ${figure(running)}`],
            ['tokens/s of a turn: asked, held', `${PACE.perSecond}, ${figure(held)}`],
            ['tokens to be delivered, delivered', `${figure(sum(({ expected }) => expected))}, ${figure(heard)}`],
            ['lost, twice, out of order, torn', `${faults.lost}, ${faults.twice}, ${faults.late}, ${faults.torn}`],
            ['connections closed', String(faults.closed)],
            ['tokens delivered/s, frames/s', `${rate((share) => share.heard)}, ${rate((share) => share.frames)}`],
            ['tokens a frame', figure(heard / sum(({ frames }) => frames))],
            ['delay at the owner: p50, p90, p99, max, ms', quantiles(own)],
            ['delay at the other node', quantiles(other)],
            ...cost.rows,
          ],
        }),
    );
    expect(faults).toEqual({ lost: 0, twice: 0, late: 0, torn: 0, closed: 0 });
    expect(heard).toBe(sum(({ expected }) => expected));
    // At its end a turn is followed by the next: hardly ever is a chat without one.
    expect(running).toBeGreaterThan(0.9 * TURNS);
  });
});

/** Connections are dealt out evenly; half of the chats are owned by each node, and half of their followers are at the other. */
const chats: readonly (AskedChat & { at: number })[] = Array.from({ length: TURNS }, (_, at) => ({
  at,
  chatId: `load-${at}`,
  owner: at % 2,
  followers: Math.floor((CONNECTIONS + TURNS - 1 - at) / TURNS),
}));

async function startLoad(name: string, ports: readonly number[]): Promise<Subject> {
  const options: ConversationsOptions = { ports, ...PACE };
  const load = await Subject.start(name, '../load/conversations', options, { core: null });
  onTestFinished(() => load.stop());
  return load;
}

const delays = (shares: readonly Told['own'][]): Delays => shares.reduce((all, share) => all.take(share), new Delays());

const quantiles = (all: Delays): string => [0.5, 0.9, 0.99, 1].map((q) => figure(all.quantile(q))).join(', ');
