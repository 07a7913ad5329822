import { closeSync, openSync, writeSync } from 'node:fs';

const OUTCOMES = ['kept', 'changed', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What became of a row of the old tables. */
export interface Entry {
  readonly table: 'agent_chat' | 'agent_history';
  /** Of the old row; null for a conversation that has none. */
  readonly id: string | null;
  /** The conversation's old id. */
  readonly cid: string | null;
  /** Where it is now; null where it is nowhere. */
  readonly chatId: string | null;
  readonly outcome: Outcome;
  /** What changed, or why it was refused; none where it was kept as it is. */
  readonly reasons: readonly string[];
}

type Counts = Readonly<Record<Outcome, number>>;

interface Totals {
  readonly chats: Counts;
  readonly rows: Counts;
  /** Messages that this run has added, and those that were there before it. */
  readonly messages: { readonly added: number; readonly present: number };
}

const none = (): Record<Outcome, number> => ({ kept: 0, changed: 0, refused: 0 });

/** A line of the table of sums. */
const line = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(15) + cells.map((cell) => String(cell).padStart(9)).join('');

/** What became of every row: those that are not as they were line by line, all of them in a file where one is wanted. */
export class Report {
  readonly #chats = none();
  readonly #rows = none();
  readonly #messages = { added: 0, present: 0 };
  readonly #file: number | null;

  /**
   * @param path a file for every row, as JSON lines; what it holds is written over
   * @throws {Error} a file that cannot be written
   */
  constructor(
    private readonly print: (line: string) => void,
    path: string | undefined,
  ) {
    this.#file = path === undefined ? null : openSync(path, 'w');
  }

  add(entry: Entry): void {
    (entry.table === 'agent_chat' ? this.#chats : this.#rows)[entry.outcome]++;
    this.#write(entry);
    if (entry.outcome === 'kept') return;
    const { outcome, table, id, cid, reasons } = entry;
    this.print(`${outcome} ${table} ${id ?? '-'} of ${cid ?? '-'}: ${reasons.join('; ')}`);
  }

  saved(added: number, present: number): void {
    this.#messages.added += added;
    this.#messages.present += present;
  }

  get totals(): Totals {
    return { chats: { ...this.#chats }, rows: { ...this.#rows }, messages: { ...this.#messages } };
  }

  /** The sums, as a table for people and as the last line of the file. */
  close(more: Readonly<Record<string, unknown>>): void {
    const { chats, rows, messages } = this.totals;
    this.print(line('', OUTCOMES));
    for (const [name, counts] of [['agent_chat', chats] as const, ['agent_history', rows] as const]) {
      const cells = OUTCOMES.map((outcome) => counts[outcome]);
      this.print(line(name, cells));
    }
    this.print(`messages: ${messages.added} added, ${messages.present} were there`);
    this.#write({ summary: this.totals, ...more });
    if (this.#file !== null) closeSync(this.#file);
  }

  #write(line: object): void {
    if (this.#file !== null) writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
