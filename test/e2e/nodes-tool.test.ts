import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { describeOnRedis, REDIS_URL } from '../harness/services.js';
import { Shell } from '../harness/shell.js';
import { until } from '../harness/until.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describeOnRedis('npm run nodes', () => {
  test('LIF-4: starts nodes that serve the same chats behind one address, and ends when all of them have drained', async () => {
    const database = postgresDatabase();
    onTestFinished(() => database.remove());
    const shell = new Shell('exec node tools/nodes.mjs 2', {
      cwd: root,
      env: { PORT: '0', DATABASE_URL: database.url, REDIS_URL, REDIS_PREFIX: `${uid('test')}:` },
    });
    const urls = await until(() => {
      const found = shell.output.match(/(?<=listening on )http:\S+/g) ?? [];
      const [front] = shell.output.match(/(?<=are behind )http:\S+/) ?? [];
      return found.length === 2 && front ? [front, ...found] : null;
    }, 'both nodes, and what stands before them');
    expect(new Set(urls).size).toBe(3);
    const people = await Promise.all(urls.map((url) => new Person(url).open()));
    const ann = people[1]!;
    const chatId = await ann.createChat();
    for (const person of people) await person.follow(chatId);
    const { requestId } = (await ann.start(chatId, 'hello there')).turn;
    for (const person of people) {
      await person.ended(chatId, requestId);
      expect(person.chats.get(chatId)?.text(requestId)).toContain('hello there');
    }
    shell.signal('SIGTERM');
    expect(await shell.ended()).toBe(0);
  });
});
