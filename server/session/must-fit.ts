import { tooLarge, type InputMessage, type Limits } from '../../protocol/index.js';
import { messageBytes } from './message-buffer.js';

/**
 * DAT-3 for messages that are given whole, whichever way they come: each as large as a message may be, and all of them
 * what a turn may hold.
 *
 * @param path where they stand in the arguments
 * @throws {ChatError} `payload_too_large`
 */
export function mustFit(
  messages: readonly Pick<InputMessage, 'props' | 'metadata'>[],
  { maxMessageBytes, maxTurnBytes }: Limits,
  path: string,
): void {
  let sum = 0;
  for (const [index, message] of messages.entries()) {
    const bytes = messageBytes(message);
    if (bytes > maxMessageBytes) throw tooLarge('maxMessageBytes', maxMessageBytes, { path: `${path}.${index}` });
    sum += bytes;
  }
  if (sum > maxTurnBytes) throw tooLarge('maxTurnBytes', maxTurnBytes, { path });
}
