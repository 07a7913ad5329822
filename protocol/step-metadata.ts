// The keys of a step's metadata that mean something to the server or to what runs an assistant.

/** True in a failed step whose caller went on: no resume runs it again (TRN-9). */
export const HANDLED = 'handled';

/** In a delegate step: the stack that it calls. */
export const CHILD_STACK = 'childStackId';

/**
 * In a completed step of a call that is not shown: the messages it had sent. They stand nowhere else, and a resumed call
 * answers with them. The server alone writes it.
 */
export const SAID = 'said';

/** What a step wrote to the space, for a resumed run that does not run it again. */
export const WROTE = 'wrote';

/** The tokens that a step and those below it used. */
export const USAGE = 'usage';

/** A step's place among the calls of its frame: `2.1` is the first one below the second. */
export const CALL_PATH = 'call';

/** What of a step's metadata is in no event, as its input and output are in none. */
export const PRIVATE_STEP_KEYS = [SAID, WROTE] as const;
