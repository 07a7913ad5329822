import { SocketIoClient } from '../load/socketio-client.js';
import { Audience } from '../load/audience.js';
import type { Measure } from '../measure.js';
import { figure, quantile, times, type Table } from '../report.js';
import { Subject } from '../subjects/subject.js';
import { trial, type Trial } from '../trials.js';

const SHORT = 100;
const TOKENS = 250;

/** What somebody waits for who comes late, comes back, or reads on. */
export const lateJoin: Measure = {
  name: 'late-join',
  title: 'Coming late and coming back',
  async *run({ isQuick }) {
    const long = isQuick ? 1000 : 10_000;
    const rounds = isQuick ? 30 : 300;
    const seeds = [
      { chatId: 'long', messages: long },
      { chatId: 'short', messages: SHORT },
    ];
    const subject = await Subject.start('Turnstream', 'turnstream', { windowMs: 0, seeds });
    const audience = await Audience.gather(subject, 'turnstream', {
      prefix: 'running',
      chats: 1,
      perChat: 1,
      tokens: 'times',
    });
    const [running] = audience.chats;
    const client = new SocketIoClient({ port: subject.port });
    await client.joined;
    const { position: left } = await client.do<{ position: object }>('chat:subscribe', { chatId: running });
    await subject.call('pace', { chats: audience.chats, perSecond: TOKENS, ms: 1000 });
    await audience.tally.expect(TOKENS, 'the running turn');
    const missed = audience.tally.frames;

    const list = (chatId: string, limit: number, more = {}) => ({
      command: 'message:list',
      args: { chatId, limit, ...more },
    });
    const subscribe = (chatId: string | undefined, more = {}) => ({
      command: 'chat:subscribe',
      args: { chatId, ...more },
    });
    const big = long.toLocaleString('en-US');
    const asked = [
      { name: `the newest 50 of ${SHORT} messages`, ...list('short', 50) },
      { name: `the newest 50 of ${big}`, ...list('long', 50) },
      { name: `50 in the middle of ${big}`, ...list('long', 50, { before: long / 2 }) },
      { name: `a page of 200 of ${big}`, ...list('long', 200) },
      { name: `join: snapshot of 50 of ${big}`, ...subscribe('long') },
      { name: `join a turn with ${TOKENS} tokens so far`, ...subscribe(running) },
      { name: `come back: replay of ${missed} events`, ...subscribe(running, { position: left }) },
    ];
    const took = asked.map((): number[] => []);
    const done: Trial<void> = await trial(subject, async () => {
      for (let round = -10; round < rounds; round++) {
        for (const [i, { command, args }] of asked.entries()) {
          const began = performance.now();
          const answer = await client.ask(command, args);
          if (!answer.startsWith('[{"ok":true')) throw new Error(`${command}: ${answer}`);
          if (round >= 0) took[i]?.push(performance.now() - began);
        }
      }
    });
    client.close();
    audience.close();
    await subject.stop();
    yield table(
      asked.map(({ name }) => name),
      took,
      done.neighbours,
    );
  },
};

function table(names: readonly string[], took: readonly (readonly number[])[], neighbours: number): Table {
  const baseline = quantile(took[0] ?? [], 0.5);
  return {
    title: 'From asking to the whole answer, one after another',
    columns: ['what', 'p50, ms', 'p99, ms', 'p50 against the first row'],
    rows: names.map((name, i) => {
      const p50 = quantile(took[i] ?? [], 0.5);
      return [name, figure(p50), figure(quantile(took[i] ?? [], 0.99)), times(p50 / baseline)];
    }),
    noise: `${figure(neighbours)} cores`,
  };
}
