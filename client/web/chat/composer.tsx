import { ArrowUp, Square } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { systemClock } from '../../clock.js';
import { useChat, usePresence } from '../../react/index.js';
import { IconButton } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { attempt } from '../ui/notices.js';
import { draftOf, keepDraft } from './drafts.js';
import { COLUMN } from './column.js';

/** How long after the last key somebody still counts as typing. */
const TYPING_MS = 3_000;
/** On glass there is no Shift: Enter makes a line, and the button sends. */
const isTouch = matchMedia('(pointer: coarse)');

interface ComposerProps {
  readonly chatId: string;
  readonly onSend: (text: string) => void;
  /** Stands at the left below the text, which is beside the buttons where there is nothing. */
  readonly children?: ReactNode;
}

/** Where a message is written. Enter sends, Shift and Enter make a line, Escape stops the answer. */
export function Composer({ chatId, onSend, children }: ComposerProps): ReactNode {
  const { running, stop, isBusy } = useChat();
  const [text, setText] = useState(() => draftOf(chatId));
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = useTyping();
  useEffect(() => field.current?.focus(), [chatId]);

  const write = (next: string): void => {
    setText(next);
    keepDraft(chatId, next);
    typed(next !== '');
  };
  const send = (): void => {
    if (text.trim() === '') return;
    onSend(text.trim());
    write('');
    field.current?.focus();
  };
  const stopAnswer = (): void => attempt('Stopping', stop(running?.requestId));
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && running) stopAnswer();
    // A key that confirms what an input method proposes sends nothing.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || isTouch.matches) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      aria-label="Write a message"
      className={`${COLUMN} pb-[max(1rem,env(safe-area-inset-bottom))]`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="flex flex-wrap items-end rounded-[1.625rem] border border-input bg-card shadow-sm transition-colors focus-within:border-ring">
        <textarea
          ref={field}
          aria-label="Message"
          placeholder={isBusy ? 'Write what comes next' : 'Write a message'}
          rows={1}
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={pressed}
          className={classes(
            'field-sizing-content max-h-[40dvh] min-w-0 flex-1 resize-none bg-transparent pt-3.5 pl-5 text-base outline-none placeholder:text-muted-foreground sm:text-[15px]',
            children ? 'basis-full pr-5 pb-1' : 'pr-2 pb-3.5',
          )}
        />
        {children && <div className="min-w-0 flex-1 p-2">{children}</div>}
        <div className="flex items-center gap-2 p-2">
          {running && (
            <IconButton label="Stop (Esc)" look="plain" isRound onClick={stopAnswer}>
              <Square size={13} fill="currentColor" />
            </IconButton>
          )}
          <IconButton
            label={isBusy ? 'Send after this answer' : 'Send'}
            look="primary"
            type="submit"
            isRound
            disabled={text.trim() === ''}
          >
            <ArrowUp size={18} />
          </IconButton>
        </div>
      </div>
    </form>
  );
}

/** Shows the others that this person is typing, until there was no key for a while. */
function useTyping(): (isTyping: boolean) => void {
  const { setTyping } = usePresence();
  /** Another one with each key; null: not typing. */
  const [key, setKey] = useState<object | null>(null);
  const change = (isTyping: boolean): void => {
    setKey(isTyping ? {} : null);
    setTyping(isTyping);
  };
  const rest = useEffectEvent(() => change(false));
  useEffect(() => {
    if (key === null) return;
    const timer = systemClock.after(TYPING_MS, () => rest());
    return () => timer.cancel();
  }, [key]);
  return change;
}
