import { useSyncExternalStore } from 'react';
import { Held } from '../../store.js';

const NONE: readonly string[] = [];
const origins = new Held(NONE);
let isAsked = false;

/** The origins, beside this server, that the page's own policy lets pictures come from: none until that is known. */
export function usePictureOrigins(): readonly string[] {
  return useSyncExternalStore(subscribe, origins.getSnapshot);
}

function subscribe(listener: () => void): () => void {
  if (!isAsked) {
    isAsked = true;
    fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
      ({ headers }) => origins.set(originsIn(headers.get('content-security-policy') ?? '')),
      () => (isAsked = false),
    );
  }
  return origins.subscribe(listener);
}

/** What stands behind `img-src`, keywords left out. */
export function originsIn(policy: string): readonly string[] {
  const directive = policy
    .split(';')
    .map((part) => part.trim().split(/\s+/))
    .find(([name]) => name === 'img-src');
  return (directive ?? []).slice(1).filter((source) => !source.startsWith("'"));
}
