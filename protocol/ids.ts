import * as z from 'zod';
import { wellFormed } from './text.js';

/** Ids of chats, turns, messages, steps, stacks, blocks and threads. */
export const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'expected 1 to 64 letters, digits, _ or -' });

/** An id that an agent makes for a message, step or stack: long enough to be unique in the world. */
export const agentMadeId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,64}$/, { error: 'expected 16 to 64 letters, digits, _ or -' });

export const assistantId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,200}$/, { error: 'expected 1 to 200 letters, digits, _ . : or -' });

/**
 * Names of users, teams and tenants come from elsewhere: any text that a column holds. A name is compared as it stands,
 * so what storage would have to change is refused and not replaced.
 */
export const principalId = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => wellFormed(text) === text, { error: 'expected well-formed text' });

/** As much of a stack's id as leaves room for a suffix of 15 characters: ids have at most 64. */
const STACK_ID_PART = 48;

/** An id for what belongs to a stack, the same in each of its runs. @param suffix 1 to 15 characters of an id */
export const idBelow = (stackId: string, suffix: string): string => `${stackId.slice(-STACK_ID_PART)}-${suffix}`;

/** ISO 8601, UTC, with milliseconds. */
export const isoTime = z.iso.datetime({ precision: 3 });
