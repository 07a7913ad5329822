import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capacityOf, limitsOf, MAX_NODES } from '../../../bench/capacity/capacity.js';
import { costs } from '../../../bench/capacity/costs.js';
import { bytesPerTurn, demandOf } from '../../../bench/capacity/demand.js';
import { boxesHit, EVENTS_AROUND_A_TURN, eventsPerStream, ratesOf } from '../../../bench/capacity/rates.js';
import { workloadOf, type WorkloadGiven } from '../../../bench/capacity/workload.js';

const workloads = fc.record({
  connections: fc.integer({ min: 100, max: 1_000_000 }),
  followersPerChat: fc.double({ min: 1, max: 50, noNaN: true }),
  remoteShare: fc.double({ min: 0, max: 1, noNaN: true }),
  turnsPerUserHour: fc.double({ min: 0.1, max: 30, noNaN: true }),
  tokensPerSecond: fc.double({ min: 5, max: 200, noNaN: true }),
  agentShare: fc.constantFrom(0, 0.1),
});

const usedOf = (given: WorkloadGiven, resource: string): number =>
  capacityOf(workloadOf(given), costs).uses.find((use) => use.resource === resource)?.share ?? Number.NaN;

describe('the workload', () => {
  it('is refused where an answer is out of its bounds, or not a question', () => {
    expect(() => workloadOf({ remoteShare: 1.5 })).toThrow('remoteShare');
    expect(() => workloadOf({ connections: 'many' })).toThrow('connections');
    expect(() => workloadOf({ conections: 5 })).toThrow('conections');
  });
});

describe('rates', () => {
  it('are those of a turn, times users and hours', () => {
    const workload = workloadOf({
      connections: 3_600,
      connectionsPerUser: 1,
      turnsPerUserHour: 2,
      tokensPerSecond: 20,
    });
    const { turns, runningTurns, events, deliveries } = ratesOf({ ...workload, tokensPerAnswer: 100 }, 1);
    expect(turns).toBeCloseTo(2);
    expect(runningTurns).toBeCloseTo(10);
    expect(events).toBeCloseTo(10 * 20 + 2 * EVENTS_AROUND_A_TURN);
    expect(deliveries).toBeCloseTo(events * workload.followersPerChat);
  });

  it('SUB-6: tokens within a window are one event, those further apart one each', () => {
    expect(eventsPerStream(workloadOf({ tokensPerSecond: 100, coalesceMs: 50 }))).toBe(20);
    expect(eventsPerStream(workloadOf({ tokensPerSecond: 10, coalesceMs: 50 }))).toBe(10);
  });

  it('hold no word between nodes where there is one', () => {
    const { messages, entries, doorsPerChat } = ratesOf(workloadOf({ followersPerChat: 100, agentShare: 1 }), 1);
    expect([messages, entries, doorsPerChat]).toEqual([0, 0, 0]);
  });

  it('have as many doors as followers elsewhere, and no more than other nodes', () => {
    expect(boxesHit(1_000_000, 3)).toBeCloseTo(3, 4);
    expect(boxesHit(9, 10_000)).toBeCloseTo(9);
    expect(boxesHit(1, 0.4)).toBe(0.4);
  });

  it('grow with the square of nodes where agents are told of by all', () => {
    const workload = workloadOf({ agentShare: 1, connections: 100_000 });
    const [few, many] = [ratesOf(workload, 11).notices, ratesOf(workload, 101).notices];
    expect(many / few).toBeCloseTo(10);
  });
});

describe('demand', () => {
  it('is never less where there are more connections, longer answers or more followers', () => {
    fc.assert(
      fc.property(workloads, fc.integer({ min: 2, max: 200 }), (given, nodes) => {
        const base = demandOf(workloadOf(given), costs, nodes);
        const greater = [
          { ...given, connections: given.connections * 2 },
          { ...given, tokensPerAnswer: 800 },
          { ...given, followersPerChat: given.followersPerChat * 2 },
        ];
        for (const more of greater) {
          const demand = demandOf(workloadOf(more), costs, nodes);
          expect(demand.nodeCores).toBeGreaterThanOrEqual(base.nodeCores * 0.999_999);
          expect(demand.diskBytesPerDay).toBeGreaterThanOrEqual(base.diskBytesPerDay);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('has units: cores of microseconds, bytes of characters, days of ids', () => {
    const workload = workloadOf({
      ...{ connections: 3_600_000, connectionsPerUser: 1, turnsPerUserHour: 1, opensPerUserHour: 0 },
      ...{ reconnectsPerUserHour: 0, stepsPerTurn: 0, charactersPerQuestion: 100, daysKept: 10 },
      ...{ tokensPerAnswer: 25, charactersPerToken: 4, coalesceMs: 33 },
    });
    const nothing = Object.fromEntries(Object.keys(costs).map((name) => [name, 0])) as typeof costs;
    const demand = demandOf(workload, { ...nothing, nodeMicrosPerTurn: 500, postgresBytesPerTurn: 800 }, 1);
    expect(demand.nodeCores).toBeCloseTo(0.5);
    expect(bytesPerTurn(workload, { ...costs, postgresBytesPerTurn: 800 })).toBe(1_000);
    expect(demand.diskBytesPerDay).toBeCloseTo(1_000 * 1_000 * 86_400);
    expect(demand.diskBytes).toBeCloseTo(demand.diskBytesPerDay * 10);
    expect(demand.daysOfIds).toBeCloseTo(2 ** 31 / (1_000 * 2 * 86_400));
  });

  it('asks nothing of Redis on one node', () => {
    const { redisCores, redisBytes, redisReceivedBytesPerSecond } = demandOf(workloadOf(), costs, 1);
    expect([redisCores, redisBytes, redisReceivedBytesPerSecond]).toEqual([0, 0, 0]);
  });
});

describe('capacity', () => {
  it('gives nodes that can do the work, also when those that may be missing are', () => {
    fc.assert(
      fc.property(workloads, (given) => {
        const workload = workloadOf(given);
        const { nodes, nodesFor } = capacityOf(workload, costs);
        const working = nodes - workload.nodesLost;
        expect(Math.max(nodesFor.cores, nodesFor.memory, nodesFor.connections)).toBeLessThanOrEqual(working);
        const { nodeCores } = demandOf(workload, costs, nodes);
        expect(nodeCores / working).toBeLessThanOrEqual(workload.targetUtilisation * 1.000_001);
      }),
      { numRuns: 100 },
    );
  });

  it('needs no fewer nodes for more connections', () => {
    const nodesAt = (connections: number): number => capacityOf(workloadOf({ connections }), costs).nodes;
    const sizes = [1_000, 10_000, 100_000, 300_000, 1_000_000, 2_000_000];
    const nodes = sizes.map(nodesAt);
    expect(nodes).toEqual([...nodes].sort((a, b) => a - b));
    expect(nodes.at(-1)).toBeLessThan(MAX_NODES);
  });

  it('says what is used most first, and halves what is spread over twice as much', () => {
    const one = { connections: 1_000_000 };
    const { uses } = capacityOf(workloadOf(one), costs);
    expect(uses.map(({ share }) => share)).toEqual(uses.map(({ share }) => share).sort((a, b) => b - a));
    for (const resource of ['Redis cores', 'Redis memory', 'Redis network'])
      expect(usedOf({ ...one, redisShards: 2 }, resource)).toBeCloseTo(usedOf(one, resource) / 2);
    expect(usedOf({ ...one, redisShards: 2 }, 'Redis core for leases and counters')).toBeCloseTo(
      usedOf(one, 'Redis core for leases and counters'),
    );
  });

  it('names the number of connections at which each limit is met: there it is all used, and just before it is not', () => {
    const workload = workloadOf();
    const limits = limitsOf(workload, costs);
    expect(limits.map(({ connections }) => connections)).toEqual(
      limits.map(({ connections }) => connections).sort((a, b) => a - b),
    );
    for (const { resource, connections } of limits.filter((limit) => limit.connections < 1e7)) {
      expect(usedOf({ connections }, resource), resource).toBeLessThanOrEqual(1);
      expect(usedOf({ connections: Math.ceil(connections * 1.03) }, resource), resource).toBeGreaterThan(0.99);
    }
  });
});
