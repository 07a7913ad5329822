import type { ChatEvent, Json, Message, StepSummary, Turn } from '../../../../protocol/index.js';
import type { Entry, Start } from './entry.js';

const MAX_TEXT = 240;

/** The end of an id: the beginning of one that holds a time is the same for all of its day. */
export const shortId = (id: string): string => (id.length <= 8 ? id : id.slice(-6));

const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_TEXT));
const json = (value: Json): string => JSON.stringify(value).slice(0, MAX_TEXT);

/** What an event says, in one line. */
export function eventText(event: ChatEvent): string {
  switch (event.type) {
    case 'turn.queued':
    case 'turn.started':
      return turnText(event.turn);
    case 'turn.ended':
      return turnText(event.turn) + (event.persisted ? '' : ' · not stored yet');
    case 'turn.persisted':
      return 'stored';
    case 'message.created':
    case 'message.updated':
      return messageText(event.message);
    case 'message.appended':
      return (event.path === 'content' ? '' : `${event.path} `) + quoted(event.text);
    case 'message.replaced':
      return `${event.messageType} ${json(event.props)}`;
    case 'message.merged':
    case 'message.set':
      return `${event.path === '' ? 'props' : event.path} = ${json(event.value)}`;
    case 'message.closed':
      return shortId(event.messageId);
    case 'message.deleted':
      return event.messageIds.map(shortId).join(', ');
    case 'step.started':
    case 'step.ended':
      return stepText(event.step);
    case 'chat.updated':
      return `${event.chat.status} · ${quoted(event.chat.title ?? '')}`;
    case 'chat.deleted':
      return '';
    default:
      return 'a newer server’s event';
  }
}

function turnText({ assistantId, attempt, status, stopReason, error }: Turn): string {
  const parts = [assistantId, attempt > 1 ? `attempt ${attempt}` : '', status, stopReason ?? '', error?.message ?? ''];
  return parts.filter((part) => part !== '').join(' · ');
}

function messageText({ role, type, props, sequence, state }: Message): string {
  const content = props['content'];
  const said = typeof content === 'string' ? quoted(content) : json(props);
  return `${sequence} ${role} ${type}${state === 'closed' ? '' : ' open'} ${said}`;
}

const stepText = ({ type, status, assistantId, stackDepth }: StepSummary): string =>
  `${type} ${status} · ${assistantId}${stackDepth > 0 ? ` · depth ${stackDepth}` : ''}`;

/** Why the log goes on from a view there, for people. */
export function startText({ why, view, problem }: Pick<Start, 'why' | 'view' | 'problem'>): string {
  const { offset } = view.position;
  switch (why) {
    case 'opened':
      return offset === 0
        ? 'Here the server’s log begins. What the chat held before is in the view.'
        : `The server replays nothing before #${offset + 1}. The view begins with what stood there.`;
    case 'whole':
      return 'From here on every message of the view is known.';
    case 'gap':
      return 'Events were missed while there was no connection. The view goes on from a snapshot.';
    case 'epoch':
      return 'The server began another log: it was restarted, or had not needed this chat for a while.';
    case 'misfit':
      return `What was told does not give what the server shows. ${problem}`;
    case 'trimmed':
      return 'What came before was dropped by this page, to bound its memory.';
  }
}

/** All that can be searched of an entry. */
export function searchText(entry: Entry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const text = (entry.kind === 'start' ? startText(entry) : JSON.stringify(entry.event)).toLowerCase();
  texts.set(entry, text);
  return text;
}

const texts = new WeakMap<Entry, string>();
