import { useEffect, useState, type ReactNode } from 'react';
import { ChatProvider, useChat } from '../../react/index.js';
import { titleFrom, titleOf } from '../chats/title.js';
import { chatPath } from '../paths.js';
import { navigate } from '../route.js';
import { useHello } from '../session/session-provider.js';
import { kept } from '../session/storage.js';
import { Announcer } from './announcer.js';
import { AssistantChoice } from './assistant-choice.js';
import { ChatHeader } from './chat-header.js';
import { Composer } from './composer.js';
import { ConnectionNotice } from './connection-notice.js';
import { Gone, Reading } from './gone.js';
import { COLUMN } from './column.js';
import { WhoIsTyping } from './presence.js';
import { Timeline } from './timeline.js';
import { UpNext } from './up-next.js';
import { useMayTalk } from './use-may-talk.js';
import { useStick } from './use-stick.js';
import { Welcome } from './welcome.js';

interface ChatPageProps {
  readonly chatId: string;
  /** Whether it does not exist yet: what is sent first creates it. */
  readonly isNew: boolean;
  readonly onList: (() => void) | null;
}

export function ChatPage({ chatId, isNew, onList }: ChatPageProps): ReactNode {
  return (
    <ChatProvider chatId={chatId}>
      <ChatHeader onList={onList} />
      <main id="chat" className="flex min-h-0 flex-1 flex-col">
        <ConnectionNotice />
        <Conversation chatId={chatId} isNew={isNew} />
      </main>
      <Announcer chatId={chatId} />
    </ChatProvider>
  );
}

function Conversation({ chatId, isNew }: { chatId: string; isNew: boolean }): ReactNode {
  const { status, chat, reason, error, messageIds, pending, hasMore } = useChat();
  const mayTalk = useMayTalk();
  const { assistantId, choose } = useAssistantForNew();
  const stick = useStick();
  const send = useSend(chatId, isNew, assistantId);
  useTitle(chat ? titleOf(chat) : null);

  const say = (text: string): void => {
    stick.stick();
    send(text);
  };
  const isFresh = isNew && chat === null;
  if (status === 'ended' && !(isFresh && reason === 'not_found')) return <Gone reason={reason} error={error} />;
  const isEmpty = messageIds.length === 0 && pending.length === 0 && !hasMore;
  const isReading = status === 'loading' && !isNew && pending.length === 0;
  return (
    <>
      {isReading ? <Reading /> : isEmpty ? <Welcome onSend={say} /> : <Timeline chatId={chatId} stick={stick} />}
      <UpNext />
      <WhoIsTyping />
      {mayTalk ? (
        <Composer chatId={chatId} onSend={say}>
          {isFresh && pending.length === 0 && <AssistantChoice assistantId={assistantId} onChoose={choose} />}
        </Composer>
      ) : (
        <p className={`${COLUMN} pb-6 text-center text-sm text-muted-foreground`}>You can read this chat.</p>
      )}
    </>
  );
}

/** Sends a message; the first one creates its chat, which gets a title of it. */
function useSend(chatId: string, isNew: boolean, assistantId: string): (text: string) => void {
  const { start, update, chat } = useChat();
  return (text) => {
    const isFirst = isNew && chat === null;
    // A refusal stands in the chat, with the message that was refused.
    start(text, isFirst ? { createChat: true, assistantId } : {})
      .then(() => (isFirst ? update({ title: titleFrom(text) }) : undefined))
      .catch(() => undefined);
    if (isFirst) navigate(chatPath(chatId), { replace: true });
  };
}

/** Who answers in a new chat: whom one chose last, where there still is one of that name. */
function useAssistantForNew(): { readonly assistantId: string; readonly choose: (assistantId: string) => void } {
  const [chosen, setChosen] = useState(() => kept.get('assistant'));
  const assistants = useHello()?.assistants ?? [];
  const known = assistants.find((assistant) => assistant.assistantId === chosen);
  const echo = assistants.find((assistant) => assistant.assistantId === 'echo');
  const choose = (assistantId: string): void => {
    kept.set('assistant', assistantId);
    setChosen(assistantId);
  };
  return { assistantId: (known ?? echo ?? assistants[0])?.assistantId ?? 'echo', choose };
}

function useTitle(title: string | null): void {
  useEffect(() => {
    document.title = title ? `${title} · Turnstream` : 'Turnstream';
  }, [title]);
}
