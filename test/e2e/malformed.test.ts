import fc from 'fast-check';
import { describe, test } from 'vitest';
import { agentCommands, commands } from '../../protocol/index.js';
import { malformedOf, Written, type Facts } from './malformed-arguments.js';
import {
  AGENT_FACTS,
  expectAnswer,
  expectLetGo,
  expectServedOrClosed,
  FORMS,
  Mallory,
  PEOPLE_FACTS,
  requestOf,
  routesBeside,
  routesOf,
} from './malformed-doors.js';
import { greeting, malformedBody, malformedConnection, malformedFrames } from './malformed-packets.js';
import { besieged, expectAck } from './malformed-siege.js';

/**
 * What no client would send, drawn anew at each run from the command tables and the grammars below them: whoever adds a
 * command has it here. FUZZ_SEED: the seed of a run that is to be had again.
 */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** MALFORMED_TIMES: so many times the samples, for whoever looks for more than a change of today's may have broken. */
const times = Number(process.env['MALFORMED_TIMES'] ?? 1);

/**
 * Not shrunk: the server has been through all that came before, and is not the same twice. Its error names the one sample
 * that it is about; fast-check would print the whole draw.
 */
async function holds<T>(property: fc.IAsyncProperty<T>, samples: number): Promise<void> {
  const run = await fc.check(property, { seed, numRuns: samples * times, endOnFailure: true });
  const { errorInstance: cause } = run;
  if (run.failed) throw new Error(`FUZZ_SEED=${seed}, run ${run.numRuns}: ${String(cause)}`, { cause });
}

const form = fc.oneof({ weight: 4, arbitrary: fc.constant('ack' as const) }, fc.constantFrom(...FORMS));

const socketCommands = Object.entries(commands).flatMap(([name, { socket, args }]) => (socket ? [{ name, args }] : []));
const ofAgents = Object.entries(agentCommands).map(([name, { args }]) => ({ name, args }));

const shortened = (value: unknown): string => JSON.stringify(value).slice(0, 1500);

describe(`malformed input, FUZZ_SEED=${seed}`, () => {
  console.log(`FUZZ_SEED=${seed}`);

  test.each([
    ['people', '/' as const, socketCommands, PEOPLE_FACTS] as const,
    ['agents', '/agents' as const, ofAgents, AGENT_FACTS] as const,
  ])(
    'CON-4, C07, C27, DAT-2, DAT-3: every command of %s answers whatever its arguments, while a stream of others runs without a gap; LIF-3: nothing of it is kept',
    { timeout: 120_000 * times },
    async (_who, namespace, table, names) => {
      await besieged(async ({ url, expectAlive }) => {
        const mallory = await Mallory.at(url, namespace);
        const { door } = mallory;
        for (const { name, args } of table) {
          const asSent = malformedOf(args, names).chain((samples) =>
            fc.tuple(...samples.map((sample) => fc.record({ sample: fc.constant(sample), form }))),
          );
          const property = fc.asyncProperty(asSent, async (events) => {
            const facts: Facts = await (namespace === '/' ? mallory.ended() : mallory.running());
            const asked = events.map(({ sample, form }) => {
              const what = `${name}: ${shortened(sample)}`;
              return { what, id: door.send(name, new Written(sample, facts).text, form) };
            });
            await door.answer(door.send('chat:get', '{}') as number, `chat:get after ${name}`);
            await mallory.end(facts);
            for (const { what, id } of asked) if (id !== null) expectAck(await door.answer(id, what), what);
            door.forget();
            expectAlive();
          });
          await holds(property, 6);
        }
        mallory.close();
      });
    },
  );

  test(
    'C53, C27, DAT-2, DAT-3: every HTTP route answers whatever its arguments and its body as JSON, while a stream of others runs without a gap; LIF-3: nothing of it is kept',
    { timeout: 120_000 * times },
    async () => {
      await besieged(async ({ url, expectAlive }) => {
        const mallory = await Mallory.at(url, '/');
        const inTable = routesOf(commands);
        for (const { args, http, type } of [...inTable, ...(await routesBeside(url, inTable))]) {
          const bodies = fc.array(malformedBody, { minLength: 4, maxLength: 4 });
          const property = fc.asyncProperty(malformedOf(args, PEOPLE_FACTS), bodies, async (samples, raw) => {
            const facts = await mallory.ended();
            const proper = requestOf(http, new Written({ value: facts, faults: [] }, facts), facts);
            const requests = samples.map((sample) => requestOf(http, new Written(sample, facts), facts));
            requests.push(...raw.map((body) => ({ ...proper, ...body })));
            await Promise.all(requests.map((request) => expectAnswer(url, request, type)));
            expectAlive();
          });
          await holds(property, 6);
        }
        mallory.close();
      });
    },
  );

  test(
    'C07, C27, DAT-3: raw Engine.IO and Socket.IO packets end their own connection or nothing at all, while a stream of others runs without a gap; LIF-3: nothing of them is kept',
    { timeout: 120_000 * times },
    async () => {
      await besieged(async ({ url, expectAlive }) => {
        const sockets = fc.array(fc.tuple(greeting, malformedFrames), {
          minLength: 4,
          maxLength: 4,
        });
        const property = fc.asyncProperty(sockets, async (drawn) => {
          await Promise.all(drawn.map(([greeted, frames]) => expectServedOrClosed(url, greeted, frames)));
          expectAlive();
        });
        await holds(property, 100);
      });
    },
  );

  test(
    'C07, C53: bytes that are no request, half a handshake and frames that lie are answered below 500 and let go, while a stream of others runs without a gap; LIF-3: nothing of them is kept',
    { timeout: 120_000 * times },
    async () => {
      await besieged(async ({ url, expectAlive }) => {
        const property = fc.asyncProperty(
          fc.array(malformedConnection, { minLength: 20, maxLength: 20 }),
          async (connections) => {
            await Promise.all(connections.map((connection) => expectLetGo(url, connection)));
            expectAlive();
          },
        );
        await holds(property, 80);
      });
    },
  );
});
