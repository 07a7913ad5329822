import type { ChatEvent, ChatView } from '../../../protocol/index.js';
import { positionOf, type Entry } from './log/entry.js';

/**
 * A test for vitest: what was told of a chat up to an entry, fed to the fold, gives the view that stands there. It begins
 * at the last place where the log begins with a view.
 *
 * @param entries with consecutive ids
 * @param view as the inspector shows it after that entry
 */
export function testCase(entries: readonly Entry[], id: number, view: ChatView): string {
  const until = entries.slice(0, entries.findIndex((entry) => entry.id === id) + 1);
  const start = until.findLast((entry) => entry.kind === 'start');
  const from = start?.kind === 'start' ? start.view : view;
  const events = until
    .slice(start ? until.indexOf(start) + 1 : until.length)
    .flatMap((entry): ChatEvent[] => (entry.kind === 'event' ? [entry.event] : []));
  const end = until.at(-1);
  const { epoch, offset } = end ? positionOf(end) : view.position;
  const title = `the events up to ${epoch}:${offset} of chat ${view.chat.chatId} give its view`;
  return `import { expect, test } from 'vitest';
import { foldChat, type ChatEvent, type ChatView } from 'turnstream/protocol';

const start: ChatView = ${viewText(from)};

const events: ChatEvent[] = [
${events.map((event) => `  ${JSON.stringify(event)},\n`).join('')}];

const end: ChatView = ${viewText(view)};

test(${JSON.stringify(title)}, () => {
  expect(events.reduce(foldChat, start)).toEqual(end);
});
`;
}

/** A view as code: what is JSON as such, a line for each message, turn and step. */
function viewText({ chat, position, messages, hasMore, turns, steps, deleted }: ChatView): string {
  return `{
  chat: ${JSON.stringify(chat)},
  position: ${JSON.stringify(position)},
  messages: ${listText(messages)},
  hasMore: ${hasMore},
  turns: new Map(${listText([...turns])}),
  steps: new Map(${listText([...steps])}),
  deleted: ${deleted},
}`;
}

const listText = (items: readonly unknown[]): string =>
  items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)},\n`).join('')}  ]`;
