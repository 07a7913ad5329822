import * as z from 'zod';
import { onBusy } from '../commands.js';
import { metadata } from '../metadata.js';
import { assistantId, id } from '../ids.js';
import { json, jsonObject } from '../json.js';
import { wellFormed } from '../text.js';

/** An id that a client of AG-UI gives to a message: any short text. */
const messageId = z.string().min(1).max(200).transform(wellFormed);

const source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('url'), value: z.string().min(1), mimeType: z.string().max(200).optional() }),
  z.object({ type: z.literal('data'), value: z.string(), mimeType: z.string().min(1).max(200) }),
]);

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.enum(['image', 'audio', 'video', 'document']),
    source,
    metadata: jsonObject.optional(),
  }),
]);
export type SentPart = z.infer<typeof part>;

const content = z.union([z.string(), z.array(part).min(1).max(100)]);

const userMessage = z.object({ id: messageId, role: z.literal('user'), content });
const toolMessage = z.object({ id: messageId, role: z.literal('tool'), toolCallId: z.string().min(1), content });
/** Of others' words only the place in the conversation is read: the chat knows better what they said. */
const otherMessage = z.looseObject({
  id: messageId,
  role: z.enum(['assistant', 'reasoning', 'activity', 'system', 'developer']),
  content: z.unknown().optional(),
});

const sentMessage = z.discriminatedUnion('role', [userMessage, toolMessage, otherMessage]);
export type SentMessage = z.infer<typeof sentMessage>;

/** What of `forwardedProps` is ours; the rest is left alone. */
const forwardedProps = z.object({
  /** Who answers, where the address does not say. */
  assistantId: assistantId.optional(),
  /** TRN-3. */
  onBusy: onBusy.optional(),
  /** The turn's metadata. */
  metadata: metadata.optional(),
});

/** A RunAgentInput, as far as it means something to a chat. What else it holds is left alone: AG-UI grows. */
export const runAgentInput = z.object({
  threadId: id,
  runId: id,
  protocolVersion: z.string().optional(),
  state: json.optional(),
  messages: z.array(sentMessage),
  tools: z.array(json).optional(),
  context: z.array(json).optional(),
  forwardedProps: forwardedProps.nullish(),
});
export type RunAgentInput = z.infer<typeof runAgentInput>;

/** What `connect` reads of a RunAgentInput. */
export const connectInput = z.object({
  threadId: id,
  runId: id,
  protocolVersion: z.string().optional(),
  state: json.optional(),
  messages: z.array(sentMessage).default([]),
});

/** What `stop` reads of one. */
export const stopInput = z.object({ threadId: id, runId: id.optional() });

/** Whether the client says that it speaks AG-UI 1.0 or later: earlier ones refuse what they do not know. */
export const speaksOne = ({ protocolVersion = '' }: Pick<RunAgentInput, 'protocolVersion'>): boolean =>
  /^[1-9]\d*\.\d+$/.test(protocolVersion);
