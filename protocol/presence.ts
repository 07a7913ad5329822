import * as z from 'zod';
import { id, principalId } from './ids.js';
import { json } from './json.js';

/** Who is following a chat, and whether they are typing (SUB-8). */
export const presentUser = z.object({ userId: principalId, typing: z.boolean() });
export type PresentUser = z.infer<typeof presentUser>;

export const presence = z.object({ chatId: id, users: z.array(presentUser) });
export type Presence = z.infer<typeof presence>;

/** SUB-5: the access to a chat has ended, and with it the following; no event of that chat follows. */
export const unsubscribed = z.object({ chatId: id });
export type Unsubscribed = z.infer<typeof unsubscribed>;

/** A live hint of an assistant, without a place in the log. */
export const signal = z.object({ chatId: id, requestId: id, name: z.string(), data: json });
export type Signal = z.infer<typeof signal>;
