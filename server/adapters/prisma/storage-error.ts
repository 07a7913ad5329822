import BetterSqlite3 from 'better-sqlite3';
import { isDriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { ChatError } from '../../../protocol/index.js';
import { Prisma } from './generated/sqlite/client.js';

const { SqliteError } = BetterSqlite3;

/** What a driver said, in the few words that the store tells apart. */
export type StorageFault = 'taken' | 'missing' | 'other';

export function faultOf(error: unknown): StorageFault {
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    if (error.code === 'P2002') return 'taken';
    if (error.code === 'P2025') return 'missing';
    return faultOf((error.meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError);
  }
  // An upsert refuses an id that belongs to another by a null where none may be (upsert.ts).
  if (isDriverAdapterError(error)) {
    return /^(Unique|Null)ConstraintViolation$/.test(error.cause.kind) ? 'taken' : 'other';
  }
  if (error instanceof SqliteError) return /^SQLITE_CONSTRAINT_(UNIQUE|NOTNULL)$/.test(error.code) ? 'taken' : 'other';
  // unique_violation and not_null_violation.
  if (error instanceof pg.DatabaseError) return /^(23505|23502)$/.test(error.code ?? '') ? 'taken' : 'other';
  return 'other';
}

/**
 * What the caller of the store is told. The sentence never holds SQL or data; the driver's own error is the cause.
 * Whatever is not a ChatError already is `storage_unavailable`: a retry can help, and the data is as it was.
 */
export function storageError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (faultOf(error) === 'taken') return new ChatError('conflict', 'This id is taken.', { cause: error });
  if (faultOf(error) === 'missing') return new ChatError('not_found', undefined, { cause: error });
  return new ChatError('storage_unavailable', undefined, { cause: error });
}
