import { ofTab } from '../session/storage.js';

/** What was written and not sent, by chat: kept over a change of chat and a reload. */
const key = (chatId: string): string => `draft.${chatId}`;

export const draftOf = (chatId: string): string => ofTab.get(key(chatId)) ?? '';

export const keepDraft = (chatId: string, text: string): void => ofTab.set(key(chatId), text === '' ? null : text);
