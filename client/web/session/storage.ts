/** What a browser keeps for the page. One that keeps nothing (it may refuse) forgets with the page. */
export interface Shelf {
  get(key: string): string | null;
  /** Null takes it away. */
  set(key: string, value: string | null): void;
}

function shelfOf(storage: () => Storage): Shelf {
  return {
    get(key) {
      try {
        return storage().getItem(`turnstream.${key}`);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        if (value === null) storage().removeItem(`turnstream.${key}`);
        else storage().setItem(`turnstream.${key}`, value);
      } catch {
        // Full, or refused: then it is not kept.
      }
    },
  };
}

/** Kept by the browser, for all tabs. */
export const kept = shelfOf(() => localStorage);
/** Kept by the tab, gone with it. */
export const ofTab = shelfOf(() => sessionStorage);
