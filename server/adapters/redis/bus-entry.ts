/**
 * One entry of an inbox: messages of one sender with consecutive numbers. Without messages it says no more than how many
 * came before.
 */
export interface BusEntry {
  readonly from: string;
  /** Names the sender's life: numbers begin anew with each. */
  readonly life: string;
  /** The number of the first message; the first one of a life to this receiver is 1. */
  readonly first: number;
  readonly messages: readonly string[];
}

const HEAD = 'h';
const MESSAGE = 'm';

/** The fields and values of a stream's entry. Neither names of nodes nor of lives hold a space. */
export function fieldsOf({ from, life, first, messages }: BusEntry): string[] {
  const fields = [HEAD, `${from} ${life} ${first}`];
  for (const message of messages) fields.push(MESSAGE, message);
  return fields;
}

export function entryOf(fields: readonly string[]): BusEntry {
  const [from = '', life = '', first] = (fields[1] ?? '').split(' ');
  return { from, life, first: Number(first), messages: fields.slice(2).filter((_, index) => index % 2 === 1) };
}
