/**
 * The words of statements in which databases differ, as SQLite says them.
 */

/** ISO 8601 with milliseconds, as the Prisma client writes it: text that sorts as time does. */
export const timeIn = (iso: string): string => iso.replace('Z', '+00:00');

/** The texts of one parameter, a JSON array, as a list for IN: no number of them needs more parameters. */
export const TEXTS_OF_PARAMETER = 'SELECT value FROM json_each(?)';

/** Whether a text column holds the parameter as it stands: no character has a meaning of its own. */
export const contains = (column: string): string => `instr(${column}, ?) > 0`;
