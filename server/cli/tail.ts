import type { Chat } from '../../client/index.js';
import type { Call } from './command.js';
import { openLine } from './line.js';
import { endWithReader, note, print } from './terminal.js';
import { onTold } from './told.js';
import { Transcript } from './transcript.js';

/** Follows a chat: what stands in it, then whatever happens, over lost connections, until Ctrl-C. */
export async function tail({ words: [chatId = ''], options }: Call): Promise<number> {
  endWithReader();
  const { client, broken } = openLine(options, note);
  const interrupted = new Promise<number>((resolve) =>
    onTold(
      ['SIGINT', 'SIGTERM'],
      () => resolve(0),
      () => process.exit(1),
    ),
  );
  try {
    return await Promise.race([follow(client.chat(chatId)), interrupted, broken]);
  } finally {
    client.close();
  }
}

/** Resolves when the chat is gone. @throws {Error} where it may not be read */
function follow(chat: Chat): Promise<number> {
  const transcript = new Transcript({
    print,
    wants: () => true,
    label: ({ role, assistantId, type }, turn) => {
      const who = role === 'user' ? (turn?.createdBy ?? 'user') : (assistantId ?? 'assistant');
      return type === 'text' ? `${who}: ` : `${who} [${type}]: `;
    },
    hasMarks: true,
  });
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const view = chat.view.getSnapshot();
      if (view.status === 'live') transcript.show(view);
      if (view.status !== 'ended') return;
      transcript.end();
      if (view.reason === 'deleted') {
        note('the chat was deleted');
        resolve(0);
      } else
        reject(
          view.reason === 'not_found'
            ? new Error(`there is no chat ${chat.chatId}`)
            : (view.error ?? new Error('the chat cannot be followed')),
        );
    };
    chat.view.subscribe(look);
    look();
  });
}
