/** What the client SDK shows of itself. */
interface Watched<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}

/** Resolves with the value as soon as it is so; looks whenever the store says that it has changed. */
export function becomes<T>(store: Watched<T>, isSo: (value: T) => boolean, ms = 15_000): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      // Not within the subscribing itself: there, `end` is not known yet.
      queueMicrotask(() => end());
    };
    const look = (): void => {
      const value = store.getSnapshot();
      if (!isSo(value)) return;
      done();
      resolve(value);
    };
    const timer = setTimeout(() => {
      done();
      reject(new Error(`not so within ${ms} ms: ${isSo.toString()}; it is ${shortened(store.getSnapshot())}`));
    }, ms);
    const end = store.subscribe(look);
    look();
  });
}

const shortened = (value: unknown): string => JSON.stringify(value).slice(0, 600);
