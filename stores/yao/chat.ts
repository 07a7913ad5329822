import type { Chat as ChatRow, JsonObject } from '../../protocol/index.js';
import { given } from './given.js';
import { momentOf, type Moment } from './time.js';

/** A chat in the seed's form: what is not there is left out. */
export interface Chat {
  readonly chatId: string;
  readonly title?: string;
  readonly assistantId: string;
  readonly mode: string;
  readonly status: ChatRow['status'];
  readonly preset: boolean;
  readonly public: boolean;
  readonly share: ChatRow['share'];
  readonly sort: number;
  /** The time of its newest message: the chat's own, nobody's to set. */
  readonly lastMessageAt?: string;
  readonly metadata?: JsonObject;
  /** Those who run the commands own what they create: these come from their identity. */
  readonly createdBy: string;
  readonly teamId?: string;
  readonly tenantId?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A chat to create. Where there is no `chatId`, it gets the one that the chat was given. */
export type NewChat = {
  -readonly [K in 'chatId' | 'title' | 'mode' | 'status' | 'preset' | 'public' | 'share' | 'sort' | 'metadata']?:
    Chat[K] | null;
} & {
  readonly assistantId: string;
  /** For one that began elsewhere. Default: now. */
  readonly createdAt?: Moment | null;
  /** Not looked at: the activity is that of the messages. */
  readonly lastMessageAt?: Moment | null;
};

export function chatOf(row: ChatRow): Chat {
  const { title, lastMessageAt, metadata, teamId, tenantId, ...rest } = row;
  return { ...rest, ...given({ lastMessageAt, metadata, teamId, tenantId }), ...(title === null ? {} : { title }) };
}

/** What `chat:create` is told beside the assistant. @throws {YaoStoreError} `bad_request` */
export function draftOf(chat: NewChat) {
  const { chatId, title, mode, status, preset, public: isPublic, share, sort, metadata, createdAt } = chat;
  return {
    ...given({ chatId, title, mode, status, preset, public: isPublic, share, sort, metadata }),
    ...(createdAt ? { createdAt: momentOf(createdAt, 'created_at') } : {}),
  };
}
