import { id } from '../../protocol/index.js';
import { invalid, YaoStoreError } from './error.js';

type Said<T> = { [K in keyof T]?: Exclude<NonNullable<T[K]>, ''> };

/** What of a record says something: as in Go, neither nothing nor an empty text does. */
export const given = <T extends object>(record: T): Said<T> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  ) as Said<T>;

/** Whether anything here can have this id: any other text names nothing. */
export const isId = (text: string): boolean => id.safeParse(text).success;

/** What is said where it is not there. @throws {YaoStoreError} `not_found` for a text that is no id */
export function notFoundOf(kind: 'chat' | 'message' | 'step', name: string): string {
  const sentence = `${kind} ${name} not found`;
  if (!isId(name)) throw new YaoStoreError('not_found', sentence);
  return sentence;
}

/**
 * The fields of an update that are changed.
 *
 * @param open fields that may change
 * @param passedOver fields that never do, and are left out in silence
 * @throws {YaoStoreError} `bad_request` for no field at all, and for one that is neither: the seed's database refuses it
 */
export function changesIn(
  updates: Readonly<Record<string, unknown>> | null | undefined,
  open: readonly string[],
  passedOver: readonly string[],
): Record<string, unknown> {
  const named = Object.entries(updates ?? {}).filter(([, value]) => value !== undefined);
  if (named.length === 0) throw invalid('no fields to update');
  for (const [key] of named)
    if (!open.includes(key) && !passedOver.includes(key)) throw invalid(`${key} cannot be updated`);
  return Object.fromEntries(named.filter(([key]) => open.includes(key)));
}

/** @throws {YaoStoreError} `bad_request` for a field that is no filter here: passed over, it would give more than was asked for */
export function mustBeFilters(filter: object, known: readonly string[]): void {
  for (const [key, value] of Object.entries(filter))
    if (value !== undefined && !known.includes(key)) throw invalid(`${key} is no filter of this store`);
}

/** A number of the seed's: nothing, 0 and less stand for the default. @throws {YaoStoreError} `bad_request` for a fraction or no number */
export function countOr<D>(value: number | null | undefined, field: string, whenNone: D): number | D {
  if (value === undefined || value === null) return whenNone;
  if (!Number.isSafeInteger(value)) throw invalid(`${field} must be a whole number`);
  return value > 0 ? value : whenNone;
}

/** @throws {YaoStoreError} `bad_request` */
export function listOf<T>(value: readonly (T | null | undefined)[] | null | undefined, field: string): T[] {
  const list: unknown = value ?? [];
  if (!Array.isArray(list)) throw invalid(`${field} must be a list`);
  return (list as (T | null | undefined)[]).filter((one): one is T => one !== null && one !== undefined);
}
