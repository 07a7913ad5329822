import { ChatError, type Chat, type ChatSnapshot, type Turn } from '../../client/index.js';
import type { Call } from './command.js';
import { openLine } from './line.js';
import { endWithReader, note, print } from './terminal.js';
import { onTold } from './told.js';
import { Transcript } from './transcript.js';

const ASSISTANT_OF_NEW_CHATS = 'echo';
/** What a shell gives for a program that Ctrl-C has ended. */
const ENDED_BY_INTERRUPT = 130;

/** Says something and prints the answer as it comes. 0 when the turn completed, else 1. Ctrl-C stops the turn. */
export async function say({ words: [chatId = '', text = ''], options }: Call): Promise<number> {
  endWithReader();
  const { client, broken } = openLine(options, note);
  let isOver = false;
  try {
    const chat = client.chat(chatId);
    const requestId = client.newId();
    const stop = (): void =>
      void chat.stop(requestId).catch(() => {
        if (!isOver) process.exit(ENDED_BY_INTERRUPT);
      });
    onTold(['SIGINT'], stop, () => process.exit(ENDED_BY_INTERRUPT));
    const ended = answer(chat, requestId);
    await Promise.race([start(chat, text, requestId, options.assistant), broken]);
    const { status, stopReason, error } = await Promise.race([ended, broken]);
    if (status === 'completed') return 0;
    note(`the turn ${status === 'failed' ? 'failed' : `was ${status}`}: ${error?.message ?? stopReason ?? status}`);
    return 1;
  } finally {
    // The end of a stopped turn may come before the answer to the stop, which the client then gives up.
    isOver = true;
    client.close();
  }
}

/** Follows the turn to its end. */
function answer(chat: Chat, requestId: string): Promise<Turn> {
  const transcript = new Transcript({
    print,
    wants: (message) => message.requestId === requestId && message.role === 'assistant',
    label: ({ type }) => (type === 'text' ? '' : `[${type}] `),
    hasMarks: false,
  });
  return new Promise((resolve) => {
    const look = (): void => {
      const view: ChatSnapshot = chat.view.getSnapshot();
      transcript.show(view);
      const turn = view.turns.get(requestId);
      if (!turn || turn.status === 'queued' || turn.status === 'running') return;
      transcript.end();
      resolve(turn);
    };
    chat.view.subscribe(look);
  });
}

/** Starts the turn, in a chat that comes into being with it where there is none. */
async function start(chat: Chat, text: string, requestId: string, assistantId: string | undefined): Promise<void> {
  try {
    await chat.start(text, { requestId, ...(assistantId === undefined ? {} : { assistantId }) });
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'not_found') throw error;
    chat.dismiss(requestId);
    await chat.start(text, { requestId, createChat: true, assistantId: assistantId ?? ASSISTANT_OF_NEW_CHATS });
  }
}
