/** A stream to iterate; one of the web's can be, in Node. */
export type Source = AsyncIterable<unknown>;

/** A stream that is read, and can be let go of at any time. */
interface Reading {
  readonly next: () => Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Never throws. */
  readonly stop: () => void;
}

/** The web's streams have readers, which let go at once; an iterator does not while something is awaited of it. */
export function reading(source: Source): Reading {
  if ('getReader' in source) {
    const reader = (source as unknown as ReadableStream<unknown>).getReader();
    return { next: () => reader.read(), stop: () => void quietly(() => reader.cancel()) };
  }
  const iterator = source[Symbol.asyncIterator]();
  return { next: () => iterator.next(), stop: () => void quietly(() => iterator.return?.()) };
}

/** Lets go of a stream, whatever comes of it: it is another's code, and may throw at once or give no promise. */
async function quietly(letGo: () => unknown): Promise<void> {
  try {
    await letGo();
  } catch {
    // Nobody waits for it.
  }
}
