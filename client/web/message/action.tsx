import { Check } from 'lucide-react';
import { useCallback, type ReactNode } from 'react';
import * as z from 'zod';
import { json } from '../../../protocol/index.js';
import type { ChatSnapshot, Message } from '../../index.js';
import { useChat, useChatSnapshot } from '../../react/index.js';
import { useMayTalk } from '../chat/use-may-talk.js';
import { Button } from '../ui/button.js';
import { view, type ViewProps } from './view.js';

const button = z
  .union([z.string(), z.object({ label: z.string().optional(), value: json.optional() })])
  .transform((said) => {
    const { label, value } = typeof said === 'string' ? { label: said, value: undefined } : said;
    const text = label ?? (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
    return { label: text, value: value ?? text };
  });
/** Nobody chooses among more, and thousands would hold up the page. */
export const MAX_BUTTONS = 100;
export const props = z.object({
  buttons: z
    .array(z.unknown())
    .transform((buttons) => buttons.slice(0, MAX_BUTTONS))
    .pipe(z.array(button)),
});

/** Choices that an assistant offers. One can be taken; which one is seen by all. */
function Action({ message: { messageId }, props: { buttons } }: ViewProps<z.infer<typeof props>>): ReactNode {
  const { start } = useChat();
  const mayTalk = useMayTalk();
  const chosen = useChosen(messageId);
  return (
    <div role="group" aria-label="Choices" className="my-1 flex flex-wrap gap-2">
      {buttons.map(({ label, value }, index) => {
        const isChosen = chosen !== null && JSON.stringify(value) === chosen;
        return (
          <Button
            key={index}
            look={isChosen ? 'primary' : 'plain'}
            disabled={chosen !== null || !mayTalk}
            onClick={() => {
              // Where it is refused, it stands in the chat with the reason.
              start({ type: 'action_result', props: { messageId, value } }).catch(() => undefined);
            }}
            className="max-w-full"
          >
            {isChosen && <Check size={15} aria-label="Chosen" />}
            <span className="truncate">{label}</span>
          </Button>
        );
      })}
    </div>
  );
}

/** The value that was chosen, as JSON; null: none yet. */
function useChosen(messageId: string): string | null {
  const select = useCallback(
    ({ messages, pending }: ChatSnapshot): string | null => {
      for (let index = messages.length - 1; index >= 0; index--) {
        const message = messages[index];
        if (!message || message.messageId === messageId) break;
        if (isAnswer(message, messageId)) return JSON.stringify(message.props['value']);
      }
      const sent = pending
        .filter(({ error }) => error === null)
        .flatMap(({ messages: inputs }) => inputs)
        .find((input) => isAnswer(input, messageId));
      return sent ? JSON.stringify(sent.props['value']) : null;
    },
    [messageId],
  );
  return useChatSnapshot(select);
}

const isAnswer = ({ type, props }: Pick<Message, 'type' | 'props'>, messageId: string): boolean =>
  type === 'action_result' && props['messageId'] === messageId;

export const ActionMessage = view(props, Action);
