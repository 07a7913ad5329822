/**
 * Gives what stands for nothing where a chat, turn or message is not there. Known by its code, and not by its class: a
 * program may have two copies of the protocol.
 *
 * @throws whatever else went wrong
 */
export async function orIfAbsent<T, A>(work: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'not_found') return absent;
    throw error;
  }
}
