/** A command line that cannot be understood: one line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
