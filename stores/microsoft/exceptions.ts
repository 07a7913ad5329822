/** What the framework answers in .NET to an argument that it cannot take. */
export class ArgumentException extends Error {
  override readonly name: string = 'ArgumentException';
}

/** Null where there has to be something. */
export class ArgumentNullException extends ArgumentException {
  override readonly name = 'ArgumentNullException';

  constructor(parameter: string) {
    super(`Value cannot be null. (Parameter '${parameter}')`);
  }
}

/** The same in Python. */
export class ValueError extends Error {
  override readonly name: string = 'ValueError';
}

/** A place in a list where nothing stands. */
export class IndexError extends Error {
  override readonly name = 'IndexError';
}

/** What cannot be done to a thread, or went wrong in its store. */
export class AgentThreadException extends Error {
  override readonly name = 'AgentThreadException';
}
