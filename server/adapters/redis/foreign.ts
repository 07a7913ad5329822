/**
 * Whether Redis answered that something else stands under the name of one of our keys: nobody of this program wrote it. It is
 * taken out by whoever owns the name, as if nothing had been there.
 */
export const isForeign = (answer: unknown): boolean =>
  answer instanceof Error && answer.message.startsWith('WRONGTYPE');
