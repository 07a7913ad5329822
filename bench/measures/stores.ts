import { Talk } from '../load/talk.js';
import { LOAD_CORE } from '../machine.js';
import type { Measure, Scale } from '../measure.js';
import { figure, median, type Table } from '../report.js';
import { missingFrameworks } from '../subjects/frameworks.js';
import { Subject } from '../subjects/subject.js';
import type { Reading, Way } from '../subjects/stores.js';
import { interleaved, middle, noiseOf, trial, type Trial } from '../trials.js';
import { transactions } from './writes.js';

/** One way to keep conversations, in one of the programs. */
interface Contender {
  readonly name: string;
  /** With Turnstream inside it, its client, or a person who talks to an assistant. */
  readonly by: 'embedded' | 'client' | 'talk';
  readonly way: Way;
  /** What it is called where messages are read; null where another one reads the same. */
  readonly reader: string | null;
}

const contender = (name: string, by: Contender['by'], way: Way, reader: string | null): Contender => ({
  name,
  by,
  way,
  reader,
});

/** The first of each is what the framework brings: the others are compared with it. */
const GROUPS: readonly { readonly title: string; readonly contenders: readonly [Contender, ...Contender[]] }[] = [
  {
    title: 'agent-squad: a question and an answer saved',
    contenders: [
      contender('its InMemoryChatStorage', 'embedded', 'squad-memory', 'agent-squad’s InMemoryChatStorage'),
      contender('its SqlChatStorage, made to commit', 'embedded', 'squad-sql', 'agent-squad’s SqlChatStorage'),
      contender('ours, in the process', 'embedded', 'squad', 'stores/agent-squad, in the process'),
      contender('ours, over the network', 'client', 'squad', 'stores/agent-squad, over the network'),
    ],
  },
  {
    title: 'bee: a question and an answer added',
    contenders: [
      contender('its UnconstrainedMemory', 'embedded', 'bee-memory', 'bee’s UnconstrainedMemory'),
      contender('ours, each add awaited, in the process', 'embedded', 'bee', 'stores/bee, in the process'),
      contender('ours, added, then flushed, in the process', 'embedded', 'bee-flushed', null),
      contender('ours, each add awaited, over the network', 'client', 'bee', 'stores/bee, over the network'),
      contender('ours, added, then flushed, over the network', 'client', 'bee-flushed', null),
    ],
  },
  {
    title: 'A turn of ten steps recorded',
    contenders: [
      contender('LangGraph, each step written before the next', 'embedded', 'graph-sync', 'LangGraph’s SqliteSaver'),
      contender('LangGraph, each step written beside the next', 'embedded', 'graph-async', null),
      contender('our in-process assistant, over a socket', 'talk', 'chat', null),
    ],
  },
];
const CONTENDERS = GROUPS.flatMap(({ contenders }) => contenders);

/** The chat itself stands before the rooms: what they can be no faster than. */
const READERS: readonly Contender[] = [
  contender('message:list in the process', 'embedded', 'chat', 'message:list, in the process'),
  contender('message:list over the network', 'client', 'chat', 'message:list, over the network'),
  ...CONTENDERS.filter(({ reader }) => reader !== null),
];
const READINGS: readonly { readonly what: Reading; readonly title: string }[] = [
  { what: 'newest', title: 'The newest 50 messages, where the interface can ask for them' },
  { what: 'whole', title: 'All messages, as the framework asks for them' },
  { what: 'reopened', title: 'All messages, by a program that has just started' },
];

/** A number of messages that a conversation has, and how much is done with it in one repetition. */
interface Size {
  readonly messages: number;
  /** Short ones are many, because a turn makes them longer. */
  readonly conversations: number;
  readonly turns: number;
  readonly readings: number;
  /** What takes seconds is done less often. */
  readonly repetitions: number;
}

const SIZES: readonly Size[] = [
  { messages: 10, conversations: 5, turns: 5, readings: 50, repetitions: 3 },
  { messages: 1000, conversations: 1, turns: 20, readings: 10, repetitions: 3 },
  { messages: 100_000, conversations: 1, turns: 2, readings: 2, repetitions: 1 },
];
const QUICK_SIZES: readonly Size[] = [
  { messages: 10, conversations: 2, turns: 2, readings: 2, repetitions: 1 },
  { messages: 100, conversations: 1, turns: 2, readings: 2, repetitions: 1 },
];

/** The rooms of stores/ beside what their frameworks bring. */
export const stores: Measure = {
  name: 'stores',
  title: 'Frameworks: their own stores and ours',
  async *run(scale) {
    const missing = missingFrameworks();
    if (missing !== null) {
      yield { title: 'Not measured', columns: ['why'], rows: [[missing]] };
      return;
    }
    const sizes = scale.isQuick ? QUICK_SIZES : SIZES;
    const programs = await Programs.start(sizes);
    const measured = new Map<Size, SizeFigures>();
    for (const size of sizes) measured.set(size, await measure(programs, size, scale));
    for (const [index, { title, contenders }] of GROUPS.entries()) {
      const writes = new Map<Contender, string>();
      for (const contender of contenders) writes.set(contender, figure(await programs.writesPerTurn(contender)));
      yield turnTable(title, contenders, measured, writes);
      if (index === 0) yield await published(programs);
    }
    for (const { what, title } of READINGS) yield readingTable(what, title, measured);
    await programs.stop();
  },
};

/** The processes of this measure. */
class Programs {
  readonly #talks = new Map<number, Talk>();

  private constructor(
    readonly embedded: Subject,
    private readonly server: Subject,
    private readonly client: Subject,
  ) {}

  static async start(sizes: readonly Size[]): Promise<Programs> {
    const embedded = await Subject.start('a program with Turnstream in it', 'stores');
    const seeds = sizes.map(({ messages }) => ({ chatId: chatOf(messages), messages }));
    const server = await Subject.start('Turnstream', 'turnstream', { seeds });
    const url = `http://127.0.0.1:${server.port}`;
    const client = await Subject.start('a program that is a client', 'stores', { url }, { core: LOAD_CORE });
    return new Programs(embedded, server, client);
  }

  /** Where it runs. */
  of({ by }: Contender): Subject {
    return by === 'embedded' ? this.embedded : by === 'client' ? this.client : this.server;
  }

  async open(contender: Contender, { messages, conversations }: Size): Promise<void> {
    if (contender.by !== 'talk') await this.of(contender).call('open', { way: contender.way, messages, conversations });
    else if (!this.#talks.has(messages))
      this.#talks.set(messages, await Talk.begin(this.server.port, 'turnstream', chatOf(messages)));
  }

  /** @returns the milliseconds of each turn */
  async turns(contender: Contender, { messages, turns, conversations }: Size): Promise<number[]> {
    if (contender.by !== 'talk') return this.of(contender).call('turns', { way: contender.way, turns });
    const took: number[] = [];
    for (let i = 0; i < turns * conversations; i++)
      took.push((await this.#talks.get(messages)?.turn('steps')) ?? Number.NaN);
    return took;
  }

  async close(): Promise<void> {
    for (const program of [this.embedded, this.client]) await program.call('close');
  }

  /** By Turnstream's own metrics, or by SQLite's statement hook. What is in memory alone writes nothing. */
  async writesPerTurn(contender: Contender): Promise<number> {
    const { way } = contender;
    if (way === 'squad-memory' || way === 'bee-memory') return 0;
    const turns = 10;
    if (way === 'squad-sql' || way === 'graph-sync' || way === 'graph-async')
      return (await this.embedded.call<number>('countWrites', { way, turns })) / turns;
    const size = { messages: 10, conversations: 1, turns, readings: 0, repetitions: 1 };
    const server = contender.by === 'embedded' ? this.embedded : this.server;
    await this.open(contender, size);
    const before = await transactions(server);
    await this.turns(contender, size);
    return ((await transactions(server)) - before) / turns;
  }

  async stop(): Promise<void> {
    for (const talk of this.#talks.values()) talk.close();
    await this.client.stop();
    await Promise.all([this.embedded.stop(), this.server.stop()]);
  }
}

const chatOf = (messages: number): string => `seeded-${messages}`;

interface Read {
  readonly count: number;
  readonly took: readonly number[];
}

interface SizeFigures {
  readonly turns: ReadonlyMap<Contender, readonly Trial<number[]>[]>;
  readonly readings: ReadonlyMap<Reading, ReadonlyMap<Contender, readonly Trial<Read | null>[]>>;
}

async function measure(programs: Programs, size: Size, { settleMs, ...scale }: Scale): Promise<SizeFigures> {
  // Many short trials: each waits for a quiet moment, but not long.
  const paced = { ...scale, settleMs: settleMs / 5, repetitions: size.repetitions };
  // Nothing that is long is read while it grows, and readings change nothing.
  for (const contender of READERS) await programs.open(contender, size);
  const readings = new Map<Reading, ReadonlyMap<Contender, readonly Trial<Read | null>[]>>();
  for (const { what } of READINGS) {
    readings.set(
      what,
      await interleaved(READERS, paced, (contender) =>
        trial(programs.of(contender), async () => {
          const read = await programs
            .of(contender)
            .call<Read | null>('read', { way: contender.way, what, times: size.readings });
          return read && checked(contender, what, size, read);
        }),
      ),
    );
  }
  const isRebegun = size.conversations > 1;
  for (const contender of CONTENDERS) {
    if (!READERS.includes(contender)) await programs.open(contender, size);
    // What takes seconds needs no warming up.
    if (size.repetitions > 1) await programs.turns(contender, { ...size, turns: 1 });
  }
  const turns = await interleaved(CONTENDERS, paced, async (contender) => {
    if (isRebegun) await programs.open(contender, size);
    return trial(programs.of(contender), () => programs.turns(contender, size));
  });
  await programs.close();
  return { turns, readings };
}

/** @throws {Error} unless everything came that was asked for; a room may not be fast because it loses messages */
function checked({ name }: Contender, what: Reading, { messages }: Size, read: Read): Read {
  const due = what === 'newest' ? Math.min(messages, 50) : messages;
  if (read.count !== due) throw new Error(`${name}: ${what} of ${messages} gave ${read.count} messages`);
  return read;
}

type Measured = ReadonlyMap<Size, SizeFigures>;

const big = (count: number): string => count.toLocaleString('en-US');

function turnTable(
  title: string,
  contenders: readonly [Contender, ...Contender[]],
  measured: Measured,
  writes: ReadonlyMap<Contender, string>,
): Table {
  const [own] = contenders;
  const took = (contender: Contender, { turns }: SizeFigures): number =>
    middle(turns.get(contender), ({ result }) => median(result));
  return {
    title: `${title}: a turn, ms (against the first row), by messages before it`,
    columns: ['store', ...[...measured.keys()].map(({ messages }) => big(messages)), 'write transactions'],
    rows: contenders.map((contender) => [
      contender.name,
      ...[...measured.values()].map((figures) => compared(took(contender, figures), took(own, figures))),
      writes.get(contender) ?? '-',
    ]),
    noise: noiseOf([...measured.values()].flatMap(({ turns }) => contenders.map((name) => turns.get(name) ?? []))),
  };
}

function readingTable(what: Reading, title: string, measured: Measured): Table {
  const took = (contender: Contender, { readings }: SizeFigures): number =>
    middle(readings.get(what)?.get(contender), ({ result }) => median(result?.took ?? []));
  const [chat] = READERS;
  const rows = READERS.map((contender) => [
    contender.reader ?? contender.name,
    ...[...measured.values()].map((figures) =>
      compared(took(contender, figures), chat && what !== 'reopened' ? took(chat, figures) : Number.NaN),
    ),
  ]);
  return {
    title: `${title}: ms${what === 'reopened' ? '' : ' (against the first row)'}, by messages there are`,
    columns: ['store', ...[...measured.keys()].map(({ messages }) => big(messages))],
    rows: rows.filter(([, first]) => first !== '-'),
    noise: noiseOf([...measured.values()].flatMap(({ readings }) => [...(readings.get(what)?.values() ?? [])])),
  };
}

/** Milliseconds, and how many times as long as the other. In memory they are few, and three figures may be none. */
function compared(ms: number, against: number): string {
  if (!Number.isFinite(ms)) return '-';
  const shown = ms < 0.1 ? `${(ms * 1000).toFixed(1)} µs` : figure(ms);
  return Number.isFinite(against) && against !== ms ? `${shown} (${ratio(ms / against)})` : shown;
}

async function published({ embedded }: Programs): Promise<Table> {
  const outcome = await embedded.call<string>('sqlAsPublished');
  return { title: 'SqlChatStorage as it is published, with a file', columns: ['one turn'], rows: [[outcome]] };
}

/** Memory and a database are far apart: two decimals would make nothing of it one way, and too much the other way. */
const ratio = (value: number): string => (value < 0.1 ? `${Number(value.toPrecision(2))}x` : `${figure(value)}x`);
