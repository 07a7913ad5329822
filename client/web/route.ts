import { useSyncExternalStore } from 'react';
import { Listeners } from '../store.js';
import { chatIdIn } from './paths.js';

/** What an address of this page means. */
export type Route =
  /** A chat that does not exist yet. Each visit is to another one. */
  | { readonly page: 'new'; readonly visit: number }
  | { readonly page: 'chat'; readonly chatId: string }
  | { readonly page: 'unknown' };

const moved = new Listeners();
let visits = 0;
let known: { readonly path: string; readonly visit: number; readonly route: Route } | null = null;

function routeOf(path: string): Route {
  const chatId = chatIdIn(path);
  if (chatId !== null) return { page: 'chat', chatId };
  return path === '/' ? { page: 'new', visit: visits } : { page: 'unknown' };
}

function current(): Route {
  const path = location.pathname;
  if (known?.path !== path || known.visit !== visits) known = { path, visit: visits, route: routeOf(path) };
  return known.route;
}

function subscribe(listener: () => void): () => void {
  const end = moved.add(listener);
  addEventListener('popstate', listener);
  return () => {
    end();
    removeEventListener('popstate', listener);
  };
}

export const useRoute = (): Route => useSyncExternalStore(subscribe, current);

/** Goes to an address of this page. @param replace in place of the present one, to which there is no way back then */
export function navigate(path: string, { replace = false } = {}): void {
  if (path === '/') visits++;
  if (replace) history.replaceState(null, '', path);
  else if (path !== location.pathname) history.pushState(null, '', path);
  moved.notify();
}
