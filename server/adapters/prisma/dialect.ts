/**
 * The words of statements in which databases differ, as SQLite says them.
 */

/** ISO 8601 with milliseconds, as the Prisma client writes it: text that sorts as time does. */
export const timeIn = (iso: string): string => iso.replace('Z', '+00:00');

/**
 * A column that the planner shall not look up: without statistics it takes any index for a selective one, and would
 * read every active chat there is where a handful are asked for.
 */
export const unindexed = (column: string): string => `+${column}`;

/** Whether a text column holds the parameter as it stands: no character has a meaning of its own. */
export const contains = (column: string): string => `instr(${column}, ?) > 0`;

/** Bytes of a JSON column, told without reading it; 0 for none. */
export const octets = (column: string): string => `coalesce(octet_length(${column}), 0)`;
