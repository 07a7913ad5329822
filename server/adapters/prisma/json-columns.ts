import type { Json } from '../../../protocol/index.js';
import { Prisma } from './generated/sqlite/client.js';

/** JSON for a nullable column of the client: what is null, or the JSON null, is stored as none. */
export function jsonIn(value: Json): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return value ?? Prisma.DbNull;
}

/** As {@link jsonIn}, leaving a column alone that a patch does not name. */
export function jsonPatch(value: Json | undefined): Prisma.InputJsonValue | typeof Prisma.DbNull | undefined {
  return value === undefined ? undefined : jsonIn(value);
}
