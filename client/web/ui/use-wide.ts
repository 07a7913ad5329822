import { useSyncExternalStore } from 'react';

const wide = matchMedia('(min-width: 48rem)');

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}

/** Whether there is room for the list of chats beside the chat. */
export const useWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches);
