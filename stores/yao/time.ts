import * as z from 'zod';
import { invalid } from './error.js';

/** A moment as callers give it: ISO 8601 with its zone, or a Date. */
export type Moment = string | Date;

const isoWithZone = z.iso.datetime({ offset: true });

/** UTC with milliseconds, as everything here has it. @throws {YaoStoreError} `bad_request` for what is no moment */
export function momentOf(value: Moment, field: string): string {
  const isTime = value instanceof Date || isoWithZone.safeParse(value).success;
  const moment = new Date(isTime ? value : NaN);
  if (Number.isNaN(moment.getTime())) throw invalid(`${field} must be a time, in ISO 8601 with its zone`);
  return moment.toISOString();
}
