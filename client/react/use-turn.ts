import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Chat, ChatSnapshot, ReadState, ShownStep, Store, Turn } from '../index.js';
import { LOADING } from '../read-state.js';
import { NO_CHAT } from './nothing.js';
import { useNamedChat } from './provider.js';
import { isSameTurn, presentRequestId, turnStateOf, type TurnState } from './turn-state.js';
import { useSelected } from './use-selected.js';

export interface TurnActions {
  /** Stops it. @throws {ChatError} `not_found` where nothing is there to stop */
  readonly stop: () => ReturnType<Chat['stop']>;
  /** Starts its next attempt. @throws {ChatError} `turn_not_resumable` */
  readonly resume: () => ReturnType<Chat['resume']>;
  /** Answers its input anew, as another turn. @throws {ChatError} `conflict`: not the newest, or not ended */
  readonly regenerate: () => ReturnType<Chat['regenerate']>;
  /** Sends its refused input again. @throws {ChatError} the refusal; `not_found`: none was refused */
  readonly retry: () => ReturnType<Chat['retry']>;
  /** Takes its refused input out of sight. */
  readonly dismiss: () => void;
}

const NEVER: Store<ReadState<never>> = { getSnapshot: () => LOADING, subscribe: () => () => undefined };
const loading = (): typeof LOADING => LOADING;

/**
 * A turn of a chat, and what can be done with it.
 *
 * @param requestId default: the running foreground turn, else what was sent last, else the newest turn
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useTurn(requestId?: string, chatId?: string): TurnState & TurnActions {
  const chat = useNamedChat(chatId);
  const present = useSelected(chat.view, NO_CHAT, presentRequestId);
  const id = requestId ?? present;
  const asked: Store<ReadState<Turn>> = id === null ? NEVER : chat.turn(id);
  const read = useSyncExternalStore(asked.subscribe, asked.getSnapshot, loading);
  const select = useCallback((snapshot: ChatSnapshot) => turnStateOf(id, snapshot, read), [id, read]);
  const state = useSelected(chat.view, NO_CHAT, select, isSameTurn);
  const actions = useMemo(() => actionsOf(chat, id), [chat, id]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}

/**
 * The steps of a turn as they were recorded, ascending, and those that run. They are asked for, and hold what models were
 * told: who may not talk in the chat is refused them.
 *
 * @throws {Error} outside of a TurnstreamProvider, or where no chat is named and no ChatProvider is around
 * @throws {ChatError} `bad_request`: `chatId` is not an id
 */
export function useSteps(requestId: string, chatId?: string): ReadState<readonly ShownStep[]> {
  const steps = useNamedChat(chatId).steps(requestId);
  return useSyncExternalStore(steps.subscribe, steps.getSnapshot, loading);
}

function actionsOf(chat: Chat, requestId: string | null): TurnActions {
  const named = requestId === null ? {} : { requestId };
  return {
    stop: () => chat.stop(requestId ?? undefined),
    resume: () => chat.resume(named),
    regenerate: () => chat.regenerate(requestId ?? ''),
    retry: () => chat.retry(requestId ?? ''),
    dismiss: () => chat.dismiss(requestId ?? ''),
  };
}
