/** Wraps what did not come from the stream that is read, so that it is told apart from what did. */
export class Outside extends Error {
  /** @param cause what is thrown in the end */
  constructor(override readonly cause: unknown) {
    super('not of the stream');
  }
}
