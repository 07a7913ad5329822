import { useMemo } from 'react';
import { isEnded } from '../../../protocol/index.js';
import type { ChatSnapshot, Message } from '../../index.js';
import { useChatSnapshot, useClient, useMessageIds } from '../../react/index.js';

/** A place in the list: a message, and how it stands to its neighbours. */
export interface Row {
  readonly messageId: string;
  readonly requestId: string | null;
  readonly role: Message['role'];
  /** Whether somebody else spoke before it. */
  readonly isFirst: boolean;
  /** Whether it is the last one held of its turn: what became of the turn is said below it. */
  readonly endsTurn: boolean;
}

/** The rows of messages, without those of turns that still wait: these stand at the composer. */
export function rowsOf(messages: readonly Message[], waiting: readonly string[]): readonly Row[] {
  const hidden = new Set(waiting);
  const shown = messages.filter(({ requestId }) => requestId === null || !hidden.has(requestId));
  const last = new Map<string, string>();
  for (const { requestId, messageId } of shown) if (requestId !== null) last.set(requestId, messageId);
  return shown.map(({ messageId, requestId, role }, at) => {
    const before = shown[at - 1];
    const isSame = before?.role === role && before.requestId === requestId;
    return { messageId, requestId, role, isFirst: !isSame, endsTurn: last.get(requestId ?? '') === messageId };
  });
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);

/** Foreground turns that wait behind another one, in their order. A turn whose answer has begun once is not among them. */
function waitingIds({ turns }: ChatSnapshot): readonly string[] {
  return [...turns.values()]
    .filter(({ status, background, attempt }) => status === 'queued' && !background && attempt === 1)
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    .map(({ requestId }) => requestId);
}

const queuedBehind = (snapshot: ChatSnapshot): readonly string[] => {
  const waiting = waitingIds(snapshot);
  // The first one waits for its assistant, not for another turn.
  const isHeld = [...snapshot.turns.values()].some(({ status, background }) => !background && status === 'running');
  return isHeld ? waiting : waiting.slice(1);
};

/** See {@link waitingIds}; without the one that is next and has none before it. */
export const useWaiting = (): readonly string[] => useChatSnapshot(queuedBehind, { isSame: sameList });

/** The rows of the chat around this: others when a message comes or goes, not for the words in between. */
export function useRows(chatId: string): readonly Row[] {
  const chat = useClient().chat(chatId);
  const ids = useMessageIds();
  const waiting = useWaiting();
  // Roles and turns of messages do not change: the ids say when there are others.
  return useMemo(() => rowsOf(chat.view.getSnapshot().messages, waiting), [chat, ids, waiting]);
}

/** Whether no foreground turn is under way. */
export const isIdle = ({ turns }: ChatSnapshot): boolean =>
  [...turns.values()].every(({ status, background }) => background || isEnded(status));
