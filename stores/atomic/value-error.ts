/** What Atomic Agents answers to a value that does not fit: its users match the name. */
export class ValueError extends Error {
  override readonly name: string = 'ValueError';
}

/** A value that its schema refuses; a `ValueError` like pydantic's. */
export class ValidationError extends ValueError {
  override readonly name = 'ValidationError';
}
