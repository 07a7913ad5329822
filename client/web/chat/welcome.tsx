import { ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { COLUMN } from './column.js';

/** Each shows something that the page can do with an answer, whoever gives it: the echo says it back word by word. */
const SUGGESTIONS = [
  {
    title: 'Watch it stream',
    note: 'And close the tab in the middle of it.',
    text: 'Every word of this answer is an event with a number. **Close the tab while it is being written**, open it again, and you are where it is now: nothing is lost, nothing comes twice. Open this chat in a second window beside it, and both show the same words at the same moment. Press Escape in either one, and it stops in both.',
  },
  {
    title: 'Show me some code',
    note: 'A program that follows a chat.',
    text: 'Here is a small program:\n\n```ts\nimport { createChatClient } from "turnstream/client";\n\nconst client = createChatClient({ url: "http://127.0.0.1:3000" });\nconst chat = client.chat("hello");\n\nchat.view.subscribe(() => {\n  const { messages } = chat.view.getSnapshot();\n  console.log(messages.at(-1)?.props);\n});\n\nawait chat.start("Hello!", { createChat: true, assistantId: "echo" });\n```\n\nIt follows a chat, and says hello in it.',
  },
  {
    title: 'A table and a list',
    note: 'And three things to try meanwhile.',
    text: 'Where things are kept:\n\n| What | Where |\n|---|---|\n| messages | in the database |\n| the live log | in memory, for a while |\n| a running answer | in the journal |\n\nAnd three things to try:\n\n1. send a second message while this one is being answered\n2. withdraw it again\n3. stop the answer, and go on with it',
  },
] as const;

interface WelcomeProps {
  readonly onSend: (text: string) => void;
}

/** What is shown where nothing was said yet. */
export function Welcome({ onSend }: WelcomeProps): ReactNode {
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className={`${COLUMN} my-auto py-8`}>
        <h2 className="text-2xl font-semibold tracking-tight">What shall we talk about?</h2>
        <p className="mt-1.5 text-muted-foreground">Write below, or begin with one of these.</p>
        <ul className="mt-6 grid gap-2.5 sm:grid-cols-3">
          {SUGGESTIONS.map(({ title, note, text }) => (
            <li key={title}>
              <button
                type="button"
                onClick={() => onSend(text)}
                className="group flex h-full w-full flex-col rounded-2xl border border-border bg-card p-4 text-left transition-colors hover:bg-accent"
              >
                <span className="flex w-full items-center justify-between gap-2 text-sm font-medium">
                  {title}
                  <ArrowUpRight
                    size={15}
                    aria-hidden
                    className="shrink-0 text-muted-foreground transition-transform group-hover:translate-x-0.5 group-hover:-translate-y-0.5"
                  />
                </span>
                <span className="mt-1 text-note text-muted-foreground">{note}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
