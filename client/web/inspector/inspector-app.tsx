import type { ReactNode } from 'react';
import icon from '../icon.svg';
import { ChatChoice } from './chats/chat-choice.js';
import { Inspection } from './inspection.js';
import { useInspectedChat } from './route.js';

/** The inspector: of the chat that the address names, else of one to be chosen. */
export function InspectorApp(): ReactNode {
  const chatId = useInspectedChat();
  return chatId === null ? <Choosing /> : <Inspection key={chatId} chatId={chatId} />;
}

function Choosing(): ReactNode {
  return (
    <main className="mx-auto flex h-dvh max-w-xl flex-col px-4 pt-[8vh] pb-4">
      <h1 className="flex items-center gap-2.5 text-lg font-semibold tracking-tight">
        <img src={icon} alt="" className="size-6" />
        Inspector
      </h1>
      <p className="mt-1 mb-5 text-sm text-muted-foreground">
        A chat’s live log, event by event: what the view was at each of them, and what each turn did. Which chat?
      </p>
      <div className="flex min-h-0 flex-1 flex-col overflow-hidden rounded-2xl border border-border bg-card">
        <ChatChoice openChatId={null} onChosen={() => undefined} />
      </div>
    </main>
  );
}
