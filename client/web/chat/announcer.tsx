import { useEffect, useState, type ReactNode } from 'react';
import { isEnded } from '../../../protocol/index.js';
import type { ChatSnapshot } from '../../index.js';
import { useChatSnapshot, useClient } from '../../react/index.js';
import { answerText } from './answer-text.js';
import { useAssistantName } from './assistant-name.js';

/** What is read out of an answer; the rest can be read in the chat. */
const MAX_SPOKEN = 600;

const runningOf = ({ running }: ChatSnapshot): string | null => running?.requestId ?? null;

/** Tells those who listen that an answer has begun, and what it came to: once each, not word by word. */
export function Announcer({ chatId }: { chatId: string }): ReactNode {
  const chat = useClient().chat(chatId);
  const name = useAssistantName();
  const running = useChatSnapshot(runningOf);
  const [news, setNews] = useState('');
  useEffect(() => {
    if (running === null) return;
    setNews('is answering.');
    return () => {
      const snapshot = chat.view.getSnapshot();
      const turn = snapshot.turns.get(running);
      if (!turn || !isEnded(turn.status)) return;
      const text = answerText(snapshot, running).slice(0, MAX_SPOKEN);
      setNews(turn.status === 'completed' ? `answered: ${text}` : `did not finish: ${text}`);
    };
  }, [chat, running]);
  return (
    <div role="status" aria-label="Answers" className="sr-only">
      {news && `${name} ${news}`}
    </div>
  );
}
