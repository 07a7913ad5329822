import { useSyncExternalStore } from 'react';
import { Held } from '../../store.js';
import { chatIdIn, inspectorPath } from '../paths.js';

const inspected = new Held(chatIdIn(location.pathname));
addEventListener('popstate', () => inspected.set(chatIdIn(location.pathname)));

/** The chat that the address names; null: none yet. */
export const useInspectedChat = (): string | null => useSyncExternalStore(inspected.subscribe, inspected.getSnapshot);

export function inspect(chatId: string): void {
  const path = inspectorPath(chatId);
  if (path !== location.pathname) history.pushState(null, '', path);
  inspected.set(chatId);
}
