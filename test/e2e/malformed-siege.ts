import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { ERROR_CODES, type Ack, type ErrorBody } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { CONNECTIONS, heldBy, metric } from '../harness/metric.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

const COLLECTOR = fileURLToPath(new URL('./collect-on-signal.mjs', import.meta.url));
const MiB = 1024 * 1024;

/** So much more may be held at the end than before: compiled code, caches of statements and of patterns, not what was sent. */
const MAX_HELD_BYTES = 16 * MiB;
/** One may leave what only the next can take: what a finaliser held. */
const COLLECTIONS = 4;
/** A stream of others may wait so long for one word: far above what a busy machine costs, far below a stall. */
const MAX_PAUSE_MS = 5_000;

/** A server in a small heap that is sent what it should not be, while an agent streams to a person, word by word. */
interface Siege {
  readonly url: string;
  /** Fails where the server is another than at the beginning, or none, or has said what no input may make it say. */
  readonly expectAlive: () => void;
}

/** Runs the attack; then the stream has to be whole, the process the same, and its memory as before. */
export async function besieged(attack: (siege: Siege) => Promise<void>): Promise<void> {
  const server = await new ServerProcess({
    NODE_OPTIONS: `--max-old-space-size=96 --import=${COLLECTOR}`,
    LOG_TTL_MS: '100',
    AGENT_GRACE_MS: '50',
    AGENT_WAIT_MS: '50',
  }).start();
  const { url, pid } = server;
  const expectAlive = (): void => {
    expect(server.output, 'what the server says').not.toMatch(
      /unhandled|uncaught|heap|MaxListeners|RangeError|TypeError|"level":[56]0/i,
    );
    // Signal 0 asks whether the process is there.
    expect(process.kill(pid, 0), 'the process is there').toBe(true);
  };

  const agent = await new Agent(url, ['bot']).join();
  const person = await new Person(url).open();
  const chatId = await person.createChat({ assistantId: 'bot' });
  const view = await person.follow(chatId);
  const requestId = uid('r');
  await person.start(chatId, 'go', { requestId });
  const run = await agent.run(requestId);
  const messageId = await run.send('');
  const base = await heapOf(url, pid);

  let sent = '';
  let words = 0;
  let longest = 0;
  const say = async (): Promise<void> => {
    const began = performance.now();
    const word = `${++words},`;
    sent += word;
    await run.append(messageId, word);
    await until(() => view.text(requestId) === sent, `word ${words} at the person`);
    longest = Math.max(longest, performance.now() - began);
  };
  let isOver = false;
  const stream = (async () => {
    while (!isOver) await say();
  })();
  // Whoever awaits it below gets its failure; until then it must not be called unhandled.
  stream.catch(() => undefined);

  try {
    // A stream that broke is the fault, whatever else the attack finds afterwards.
    await Promise.race([attack({ url, expectAlive }), stream]);
    isOver = true;
    await stream;
  } catch (error) {
    isOver = true;
    throw new Error(`${String(error)}\n${server.output.slice(-2000)}`, { cause: error });
  }

  expect(words, 'a stream went on meanwhile').toBeGreaterThan(5);
  expect(longest, 'the longest time from a word to its reader').toBeLessThan(MAX_PAUSE_MS);
  await run.close();
  const { turn } = await person.ended(chatId, requestId);
  expect(turn.status).toBe('completed');
  expect(view.text(requestId)).toBe(sent);
  const history = await expectConsistent(url, chatId, [person]);
  expect(history.at(-1)?.props['content']).toBe(sent);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  person.close();
  agent.close();
  await until(async () => (await heldBy(url, CONNECTIONS)).length === 0, 'nothing left', 20_000).catch(async () => {
    throw new Error(`LIF-3: still held: ${(await heldBy(url, CONNECTIONS)).join(', ')}`);
  });
  const end = await heapOf(url, pid, base + MAX_HELD_BYTES);
  expectAlive();
  console.log(
    `${words} words, the slowest after ${Math.round(longest)} ms; heap ${(base / MiB).toFixed(1)} → ${(end / MiB).toFixed(1)} MiB`,
  );
}

/** What the heap holds after some collections, and as many more as it takes to come to `bound`. @throws {Error} when it stays above it */
async function heapOf(url: string, pid: number, bound = Infinity): Promise<number> {
  const seen: number[] = [];
  const least = (): number => Math.min(...seen);
  await until(async () => {
    process.kill(pid, 'SIGUSR2');
    seen.push(await metric(url, 'turnstream_nodejs_heap_size_used_bytes'));
    return seen.length >= COLLECTIONS && least() <= bound;
  }, 'a heap within its bound').catch(() => {
    throw new Error(`LIF-3: the heap stays at ${least()} bytes, above ${bound}`);
  });
  return least();
}

/** Whether an answer has the form of CON-4, and blames the caller. */
export function expectAck(ack: unknown, what: string): void {
  expect(ack, what).toMatchObject({ ok: expect.any(Boolean) as boolean });
  const answer = ack as Ack<unknown>;
  if (answer.ok) expect(answer, what).toHaveProperty('data');
  else expectRefusal(answer.error, what);
}

export function expectRefusal(error: ErrorBody, what: string): void {
  expect(ERROR_CODES, what).toContain(error.code);
  expect(['internal', 'storage_unavailable', 'draining'], what).not.toContain(error.code);
  expect(typeof error.message, what).toBe('string');
  expect(error.message, what).not.toMatch(/\bat .*:\d+|node_modules|ZodError|reading '/);
}
