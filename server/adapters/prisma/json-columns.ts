import type { Json } from '../../../protocol/index.js';
import { Prisma } from './generated/sqlite/client.js';

/**
 * A patch's value for a nullable JSON column of the client: undefined leaves the column alone; what is null, or the JSON
 * null, is stored as none.
 */
export function jsonPatch(value: Json | undefined): Prisma.InputJsonValue | typeof Prisma.DbNull | undefined {
  return value === undefined ? undefined : (value ?? Prisma.DbNull);
}
