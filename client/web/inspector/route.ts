import { useSyncExternalStore } from 'react';
import { Held } from '../../store.js';

const CHAT = /^\/inspector\/([A-Za-z0-9_-]{1,64})$/;

const chatOf = (path: string): string | null => CHAT.exec(path)?.[1] ?? null;
const inspected = new Held(chatOf(location.pathname));
addEventListener('popstate', () => inspected.set(chatOf(location.pathname)));

/** The chat that the address names; null: none yet. */
export const useInspectedChat = (): string | null => useSyncExternalStore(inspected.subscribe, inspected.getSnapshot);

const inspectorPath = (chatId: string): string => `/inspector/${chatId}`;

export function inspect(chatId: string): void {
  const path = inspectorPath(chatId);
  if (path !== location.pathname) history.pushState(null, '', path);
  inspected.set(chatId);
}

/** Whether a text could be the id of a chat. */
export const isChatId = (text: string): boolean => chatOf(inspectorPath(text)) !== null;
