import type { AgUiEvent } from './event.js';
import type { AgUiMessage } from './message.js';

/** Units of JSON that a snapshot holds at most, but for its newest message: clients read frames of up to ten million. */
const MAX_SNAPSHOT_LENGTH = 4 * 1024 * 1024;

/**
 * By a convention of the stock client: the snapshot names all activities that there are. Without it, one that holds none
 * would leave those standing that were taken away.
 */
const OWNS_ACTIVITIES = { '@ag-ui/client': { authoritativeActivityTypes: null } };

/** The conversation as it stands, at least the newest of it. */
export function snapshotOf(messages: readonly AgUiMessage[]): Extract<AgUiEvent, { type: 'MESSAGES_SNAPSHOT' }> {
  return { type: 'MESSAGES_SNAPSHOT', messages: newestOf(messages), metadata: OWNS_ACTIVITIES };
}

function newestOf(messages: readonly AgUiMessage[]): readonly AgUiMessage[] {
  let length = 0;
  const first = messages.findLastIndex((message) => (length += JSON.stringify(message).length) > MAX_SNAPSHOT_LENGTH);
  return first === -1 ? messages : messages.slice(Math.min(first + 1, messages.length - 1));
}
