import type { FrameOutcome } from '../../assistant/run-assistant.js';
import type { Message } from '../../protocol/index.js';
import type { ChatSession } from './chat-session.js';
import { messagesClosed, stepsClosed } from './end-turn.js';
import type { Frame } from './frame.js';
import type { LiveTurn } from './live-turn.js';

/** The caller does not want the answer any more. */
export function endUnwanted(session: ChatSession, live: LiveTurn, stackId: string): void {
  const child = live.frames.get(stackId);
  if (!child || child.result) return;
  child.holder?.abort('not_wanted');
  endCall(session, live, child, {
    status: 'interrupted',
    output: null,
    error: { code: 'interrupted', message: 'The caller took another answer.' },
  });
}

/** Ends a call: its calls end with it, its messages are closed, its steps get their last status. */
export function endCall(session: ChatSession, live: LiveTurn, child: Frame, result: FrameOutcome): void {
  if (child.result) return;
  const stacks = live.stacksBelow(child.stackId);
  child.finish(result);
  for (const frame of live.frames.values()) {
    if (stacks.has(frame.stackId)) frame.abandon({ status: 'interrupted', output: null, error: null }, 'parent_ended');
  }
  if (!live.isRunning) return;
  const openHere = ({ messageId }: Message): boolean => stacks.has(live.sentBy.get(messageId) ?? '');
  child.aside?.endAll(openHere);
  const closed = messagesClosed(live, result.status, openHere);
  session.publish([...closed, ...stepsClosed(live, result.status, (stackId) => stacks.has(stackId))], live);
}
