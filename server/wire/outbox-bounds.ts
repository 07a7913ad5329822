/** SUB-7: when a connection that does not read is given up, whatever carries it. */

/** An outbox that is over `maxOutboxBytes`, and of which nothing moves for this long, is given up. */
export const STUCK_MS = 10_000;
/** So many times `maxOutboxBytes` is too much, however well it moves. */
export const HARD_FACTOR = 16;
