import * as z from 'zod';
import { assistantId, id, isoTime, principalId } from './ids.js';
import { metadata } from './metadata.js';
import { wellFormed } from './text.js';

export const chatStatus = z.enum(['active', 'archived']);
export const share = z.enum(['private', 'team']);
export const title = z.string().max(500).transform(wellFormed);
export const mode = z.string().min(1).max(50).transform(wellFormed);

/** The durable conversation. */
export const chat = z.object({
  chatId: id,
  title: title.nullable(),
  assistantId,
  mode,
  status: chatStatus,
  preset: z.boolean(),
  public: z.boolean(),
  share,
  sort: z.int(),
  lastMessageAt: isoTime.nullable(),
  metadata,
  createdBy: principalId,
  teamId: principalId.nullable(),
  tenantId: principalId.nullable(),
  createdAt: isoTime,
  updatedAt: isoTime,
});
export type Chat = z.infer<typeof chat>;

/** The fields of a chat that its owner may change. */
export const chatPatch = z.object({
  title: title.nullable().optional(),
  status: chatStatus.optional(),
  mode: mode.optional(),
  public: z.boolean().optional(),
  share: share.optional(),
  sort: z.int().min(-2147483648).max(2147483647).optional(),
  metadata: metadata.optional(),
});
export type ChatPatch = z.infer<typeof chatPatch>;
