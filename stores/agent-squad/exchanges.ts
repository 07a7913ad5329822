import type { SquadRow } from './row.js';
import { trimmed } from './trimming.js';

/**
 * The conversation that one agent's rows make, in the order of saving: questions and answers in turn.
 *
 * What the framework does while it saves is done here while reading: a message of the role of the last one is left out,
 * and a save with a size trims what stands before it. The rows themselves are all kept.
 *
 * Of exchanges that run at the same time nothing is left out. A question that was saved while another save was on its way,
 * or by another lane than the one that still waits for its answer, is no repetition: it waits for its turn. An answer
 * goes to the oldest question of its lane, else to the one that stands last. A question that a later one has overtaken
 * comes in with its answer, at the end; without one it stays apart, and history goes on in step.
 */
export class Exchanges {
  #standing: SquadRow[] = [];
  #waiting: SquadRow[] = [];
  readonly #apart: SquadRow[] = [];
  #answered = 0;
  #trimmedThrough = 0;

  /** The conversation. */
  get standing(): readonly SquadRow[] {
    return this.#standing;
  }

  /** What has no place in the conversation, or none yet, and is no repetition either. */
  get apart(): readonly SquadRow[] {
    return [...this.#waiting, ...this.#apart];
  }

  /** The newest sequence that trimming has taken out; 0 for none. */
  get trimmedThrough(): number {
    return this.#trimmedThrough;
  }

  /** Takes the next row in the order of saving. */
  add(row: SquadRow): void {
    const last = this.#standing.at(-1);
    if (row.isBatched || last === undefined || last.role !== row.role) this.#follow(row, last);
    else if (row.role === 'user') this.#ask(row, last);
    else this.#answerAgain(row, last);
  }

  #follow(row: SquadRow, last: SquadRow | undefined): void {
    if (row.role === 'user' || last?.role !== 'user') return this.#append(row);
    const question = this.#questionOf(row, last);
    this.#answered = Math.max(this.#answered, question.sequence);
    this.#append(row);
    const next = row.isBatched ? undefined : this.#waiting.find(({ sequence }) => sequence > this.#answered);
    if (next) this.#append(this.#taken(next));
  }

  /** The question that an answer is for, put last. */
  #questionOf(answer: SquadRow, last: SquadRow): SquadRow {
    const own = last.lane === answer.lane || answer.isBatched ? undefined : this.#waitingIn(answer.lane);
    if (!own) return last;
    this.#standing[this.#standing.length - 1] = this.#taken(own);
    this.#waiting = [...this.#waiting, last].sort((a, b) => a.sequence - b.sequence);
    return own;
  }

  #ask(row: SquadRow, last: SquadRow): void {
    if (row.isParallel || row.lane !== last.lane) this.#waiting.push(row);
  }

  #answerAgain(row: SquadRow, last: SquadRow): void {
    const question = this.#waitingIn(row.lane);
    if (question) {
      this.#append(this.#taken(question));
      this.#append(row);
    } else if (row.isParallel || row.lane !== last.lane) this.#apart.push(row);
  }

  #waitingIn(lane: string): SquadRow | undefined {
    return this.#waiting.find((row) => row.lane === lane);
  }

  #taken(row: SquadRow): SquadRow {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== row);
    return row;
  }

  #append(row: SquadRow): void {
    this.#standing.push(row);
    const all = this.#standing;
    this.#standing = trimmed(all, row.max);
    for (const { sequence } of all.slice(0, all.length - this.#standing.length))
      this.#trimmedThrough = Math.max(this.#trimmedThrough, sequence);
  }
}
