import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { CliProcess } from '../harness/cli-process.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

const LONG = 'word '.repeat(1000).trim();
const boom = defineAssistant({
  assistantId: 'boom',
  run: () => {
    throw new Error('the model is out of words');
  },
});
const loud = defineAssistant({
  assistantId: 'loud',
  run: async (ctx) => void (await ctx.send(JSON.stringify(ctx.input[0]?.props).toUpperCase())),
});

async function server() {
  const { url } = await startServer({ assistants: [boom, loud] });
  return { url, cli: (...args: string[]) => new CliProcess(args, { TURNSTREAM_URL: url }) };
}

describe('turnstream say', () => {
  test('creates the chat, prints the answer as it streams, and ends with 0', async () => {
    const { cli } = await server();
    const text = 'one two three four five six seven eight nine ten';
    const first = cli('say', 'newcomer', text);
    expect(await first.ended()).toBe(0);
    expect(first.stdout).toBe(`${text}\n`);
    expect(first.stderr).toBe('');
    expect(first.pieces).toBeGreaterThan(2);
    const second = cli('say', 'newcomer', 'several', 'words', '--user', 'local');
    expect(await second.ended()).toBe(0);
    expect(second.stdout).toBe('several words\n');
  });

  test('--assistant answers in a new chat, and stays the one of that chat', async () => {
    const { cli } = await server();
    const first = cli('say', 'shouting', '--assistant', 'loud', 'hello');
    expect(await first.ended()).toBe(0);
    expect(first.stdout).toBe('{"CONTENT":"HELLO"}\n');
    const second = cli('say', 'shouting', 'again');
    expect(await second.ended()).toBe(0);
    expect(second.stdout).toBe('{"CONTENT":"AGAIN"}\n');
  });

  test('a failed turn is told in one line and ends with 1', async () => {
    const { cli } = await server();
    const failing = cli('say', 'broken', 'hello', '--assistant', 'boom');
    expect(await failing.ended()).toBe(1);
    expect(failing.stderr).toBe('turnstream: the turn failed: the model is out of words\n');
  });

  test('Ctrl-C stops the turn: what came is shown, 1', async () => {
    const { url, cli } = await server();
    const talking = cli('say', 'endless', LONG);
    await talking.shows('word word');
    talking.interrupt();
    expect(await talking.ended()).toBe(1);
    expect(talking.stderr).toBe('turnstream: the turn was interrupted: stopped\n');
    const person = await new Person(url).open();
    const chat = await person.follow('endless');
    expect(chat.messages.at(-1)?.props['content']).toBe(talking.stdout.replace(/\n$/, ''));
  });

  test('what the server refuses is one line, 1', async () => {
    const { cli } = await server();
    await cli('say', 'mine', 'hello').ended();
    const stranger = cli('say', 'mine', 'hello', '--user', 'somebody-else');
    expect(await stranger.ended()).toBe(1);
    expect(stranger.stderr).toMatch(/^turnstream: .+\n$/);
    expect(stranger.stdout).toBe('');
  });
});

describe('turnstream tail', () => {
  test('shows what stands, then what happens, with beginnings and ends of turns; Ctrl-C ends it with 0', async () => {
    const { url, cli } = await server();
    await cli('say', 'watched', 'before').ended();
    const tail = cli('tail', 'watched');
    await tail.shows('echo: before\n');
    const person = await new Person(url).open();
    const { turn } = await person.start('watched', 'now comes more', { metadata: { delayMs: 30 } });
    await tail.shows(/echo: now comes more\n/);
    await tail.shows(`-- turn ${turn.requestId} completed\n`);
    const { turn: failing } = await person.start('watched', 'fail', { assistantId: 'boom' });
    await tail.shows(`-- turn ${failing.requestId} failed (the model is out of words)\n`);
    tail.interrupt();
    expect(await tail.ended()).toBe(0);
    expect(tail.stdout).toBe(
      [
        'local: before',
        'echo: before',
        'local: now comes more',
        `-- turn ${turn.requestId} started (echo)`,
        'echo: now comes more',
        `-- turn ${turn.requestId} completed`,
        'local: fail',
        `-- turn ${failing.requestId} started (boom)`,
        `-- turn ${failing.requestId} failed (the model is out of words)`,
        '',
      ].join('\n'),
    );
    expect(tail.stderr).toBe('');
  });

  test('a server that is killed and comes back is followed on, and nothing is shown twice', async () => {
    const killed = await new ServerProcess().start();
    const { url } = killed;
    const cli = (...args: string[]) => new CliProcess(args, { TURNSTREAM_URL: url });
    await cli('say', 'enduring', 'before').ended();
    const tail = cli('tail', 'enduring');
    await tail.shows('echo: before\n');
    await killed.kill();
    await until(() => tail.stderr.includes('the connection is lost'), 'the note that the connection is lost');
    await killed.start();
    await until(() => tail.stderr.includes('connected again'), 'the note that it is back', 20_000);
    expect(await cli('say', 'enduring', 'after').ended()).toBe(0);
    await tail.shows('echo: after\n');
    tail.interrupt();
    expect(await tail.ended()).toBe(0);
    expect(tail.stdout.match(/before/g)).toHaveLength(2);
    expect(tail.stdout.match(/after/g)).toHaveLength(2);
  });

  test('a chat that is deleted ends it with 0, one that is not there with 1', async () => {
    const { url, cli } = await server();
    await cli('say', 'brief', 'hello').ended();
    const tail = cli('tail', 'brief');
    await tail.shows('echo: hello\n');
    await (await new Person(url).open()).do('chat:delete', { chatId: 'brief' });
    expect(await tail.ended()).toBe(0);
    expect(tail.stderr).toBe('turnstream: the chat was deleted\n');
    const none = cli('tail', 'nowhere');
    expect(await none.ended()).toBe(1);
    expect(none.stderr).toBe('turnstream: there is no chat nowhere\n');
  });
});

describe('turnstream migrate', () => {
  test('says what it applied, then that there is nothing to do; not while a server is at work', async () => {
    const DATA_DIR = temporaryDirectory();
    const first = new CliProcess(['migrate'], { DATA_DIR });
    expect(await first.ended()).toBe(0);
    expect(first.stdout).toMatch(/^(applied \d+_\w+\n)+$/);
    const second = new CliProcess(['migrate'], { DATA_DIR });
    expect(await second.ended()).toBe(0);
    expect(second.stdout).toBe('the database is up to date\n');
    await new ServerProcess({}, DATA_DIR).start();
    const third = new CliProcess(['migrate'], { DATA_DIR });
    expect(await third.ended()).toBe(1);
    expect(third.stderr).toMatch(/^turnstream: The data directory .+ is in use by another server\.\n$/);
  });
});

describe('turnstream', () => {
  test.each([
    [['sya', 'x', 'y'], 'there is no command sya; turnstream --help lists them'],
    [['say', 'x'], 'say needs CHAT and TEXT'],
    [['tail', 'x', 'y'], 'tail does not know what to do with y'],
    [['tail', '--assistant', 'echo', 'x'], 'there is no option --assistant here'],
    [['--prot', '3000'], 'there is no option --prot here'],
    [['say', 'x', 'y', '--url', 'localhost:3000'], 'localhost:3000 is no address such as http://127.0.0.1:3000'],
  ])('%j is misunderstood in one line, 2', async (args, sentence) => {
    const cli = new CliProcess(args);
    expect(await cli.ended()).toBe(2);
    expect(cli.stderr).toBe(`turnstream: ${sentence}\n`);
    expect(cli.stdout).toBe('');
  });

  test('an option without its value is told in one line, 2', async () => {
    const cli = new CliProcess(['say', 'x', 'y', '--url']);
    expect(await cli.ended()).toBe(2);
    expect(cli.stderr).toMatch(/^turnstream: .*--url.*\n$/);
  });

  test.each([
    ['PORT', 'high'],
    ['ASSISTANTS', './nowhere.mjs'],
  ])('a bad setting %s=%s is one line, 2', async (name, value) => {
    const cli = new CliProcess(['serve'], { [name]: value });
    expect(await cli.ended()).toBe(2);
    expect(cli.stderr).toMatch(new RegExp(`^turnstream: ${name}: [^\n]+\n$`));
  });

  test('a server that does not answer is told in one line, 1', async () => {
    for (const args of [
      ['say', 'x', 'y'],
      ['tail', 'x'],
    ]) {
      const cli = new CliProcess([...args, '--url', 'http://127.0.0.1:9']);
      expect(await cli.ended()).toBe(1);
      expect(cli.stderr).toBe('turnstream: no server answers at http://127.0.0.1:9; is it running?\n');
    }
  });

  test('--help lists the commands, a command’s --help its options, --version the version', async () => {
    const all = new CliProcess(['--help']);
    expect(await all.ended()).toBe(0);
    for (const name of ['serve', 'migrate', 'say CHAT TEXT', 'tail CHAT']) expect(all.stdout).toContain(`  ${name}`);
    const one = new CliProcess(['say', '--help']);
    expect(await one.ended()).toBe(0);
    for (const name of ['url', 'token', 'user', 'assistant', 'help', 'version'])
      expect(one.stdout).toContain(`--${name}`);
    const version = new CliProcess(['--version']);
    expect(await version.ended()).toBe(0);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
