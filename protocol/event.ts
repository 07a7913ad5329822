import * as z from 'zod';
import { chat } from './chat.js';
import { id, isoTime } from './ids.js';
import { json, jsonObject } from './json.js';
import { message, messageType } from './message.js';
import { stepSummary } from './step.js';
import { turn } from './turn.js';

/** What every event carries: its chat, its place in the live log and, where it belongs to one, its turn. */
const envelope = {
  chatId: id,
  epoch: z.string(),
  offset: z.int().min(1),
  at: isoTime,
  requestId: id.optional(),
};

const event = <T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ ...envelope, type: z.literal(type), ...fields });

/** ChatEvent: section 5 of the protocol, one member per type. */
export const chatEvent = z.discriminatedUnion('type', [
  event('turn.queued', { turn }),
  event('turn.started', { turn }),
  event('turn.ended', { turn, persisted: z.boolean() }),
  event('turn.persisted', {}),
  event('message.created', { message }),
  event('message.appended', { messageId: id, path: z.string(), from: z.int().min(0), text: z.string() }),
  event('message.replaced', { messageId: id, messageType, props: jsonObject }),
  event('message.merged', { messageId: id, path: z.string(), value: json }),
  event('message.set', { messageId: id, path: z.string(), value: json }),
  event('message.closed', { messageId: id }),
  event('message.updated', { message }),
  event('message.deleted', { messageIds: z.array(id) }),
  event('step.started', { step: stepSummary }),
  event('step.ended', { step: stepSummary }),
  event('chat.updated', { chat }),
  event('chat.deleted', {}),
]);
export type ChatEvent = z.infer<typeof chatEvent>;
export type ChatEventType = ChatEvent['type'];

/** An event before the log gives it its place. */
export type EventBody = ChatEvent extends infer E
  ? E extends ChatEvent
    ? Omit<E, 'chatId' | 'epoch' | 'offset' | 'at'>
    : never
  : never;

/** The events that change the content of one message. */
export type MessageChange = Extract<
  ChatEvent,
  { type: 'message.appended' | 'message.replaced' | 'message.merged' | 'message.set' | 'message.closed' }
>;
export type MessageChangeBody = Extract<EventBody, { type: MessageChange['type'] }>;
