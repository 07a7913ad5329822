import * as z from 'zod';
import { assistantId, id, isoTime } from './ids.js';
import { jsonObject } from './json.js';
import { DEFAULT_LIMITS } from './limits.js';
import { metadata, metadataWithout } from './metadata.js';
import type { LimitParams } from './parse.js';

export const role = z.enum(['user', 'assistant']);
export type Role = z.infer<typeof role>;

/** A message of this type is a signal: live only, never numbered, stored or replayed. */
export const SIGNAL_TYPE = 'event';

export const messageType = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'expected a type without control characters' });

/** One entry that a person sees. */
export const message = z.object({
  messageId: id,
  chatId: id,
  requestId: id.nullable(),
  role,
  type: messageType,
  props: jsonObject,
  blockId: id.nullable(),
  threadId: id.nullable(),
  stepId: id.nullable(),
  assistantId: assistantId.nullable(),
  sequence: z.int().min(1),
  state: z.enum(['open', 'closed']),
  metadata,
  createdAt: isoTime,
  updatedAt: isoTime,
});
export type Message = z.infer<typeof message>;

/** The type of a message that is kept. */
export const storedType = messageType.refine((type) => type !== SIGNAL_TYPE, { error: 'a signal is not stored' });

/**
 * The metadata key under which programs keep what a message is to them (ACC-5). Only who may change the chat writes it, so
 * that whoever reads it need not ask who spoke.
 */
export const STORES = 'stores';

/** What may be said in a turn of its own message: what is kept for programs is left out. */
export const spokenMetadata = metadata.transform((given) => metadataWithout([STORES], given));

/** One message of an input, as an object. */
export const inputObject = z.object({
  type: storedType,
  props: jsonObject,
  blockId: id.nullable().optional(),
  threadId: id.nullable().optional(),
  metadata: spokenMetadata.optional(),
});
export type InputMessage = z.infer<typeof inputObject>;

/** One message of a turn's input; a plain string stands for a text. */
export const inputMessage = z.union([
  z.string().transform((content): InputMessage => inputObject.parse({ type: 'text', props: { content } })),
  inputObject,
]);

/** A message that no turn made: it comes closed, from a program that keeps a conversation here. */
export const savedMessage = inputObject.extend({
  metadata: metadata.optional(),
  /** Names it for good: what is saved again under its id is saved once. */
  messageId: id.optional(),
  requestId: id.nullable().optional(),
  role,
  assistantId: assistantId.nullable().optional(),
  /** For showing; the order is that of saving. Default, and at the latest: now. */
  createdAt: isoTime.optional(),
});
export type SavedMessage = z.infer<typeof savedMessage>;

const tooMany: LimitParams = { limit: 'maxInputMessages', max: DEFAULT_LIMITS.maxInputMessages };

/** A turn's input: 1 to 100 messages; one alone may stand without the array. */
export const turnInput = z.union([
  inputMessage.transform((one) => [one]),
  z
    .array(z.unknown())
    .min(1)
    .refine((list) => list.length <= tooMany.max, {
      error: `at most ${tooMany.max} input messages`,
      params: tooMany,
      abort: true,
    })
    .pipe(z.array(inputMessage)),
]);
