import '../harness/page.js';
import { act, screen, waitFor } from '@testing-library/react';
import { memo, startTransition, useState, type ReactNode } from 'react';
import { describe, expect, test } from 'vitest';
import { ChatProvider, useChat, useMessage, useMessageIds } from '../../client/react/index.js';
import { Proxy } from '../harness/proxy.js';
import { clientOf, messagesOf, opened, textOf } from '../harness/sdk.js';
import { until } from '../harness/until.js';
import { reactScene, Renders, show } from './react-scene.js';

const renders = new Renders();

const Row = memo(function Row({ messageId }: { messageId: string }): ReactNode {
  const message = useMessage(messageId);
  renders.count(messageId);
  return <li>{message ? textOf(message) : ''}</li>;
});

function List(): ReactNode {
  const chat = useChat();
  renders.count('list');
  return (
    <section>
      <p role="status">{chat.status === 'ended' ? `ended: ${chat.reason}` : chat.status}</p>
      <ul>
        {chat.messageIds.map((messageId) => (
          <Row key={messageId} messageId={messageId} />
        ))}
      </ul>
    </section>
  );
}

const Page = ({ chatId }: { chatId: string }): ReactNode => (
  <ChatProvider chatId={chatId}>
    <List />
  </ChatProvider>
);

const texts = (): string[] => [...document.querySelectorAll('li')].map((item) => item.textContent ?? '');
const status = (): string | null => screen.getByRole('status').textContent;

/** Ten thousand rows are made, loaded page by page and mounted. */
const LARGE = { timeout: 90_000 };

describe('renders', () => {
  test(
    'of 10,000 messages on the page, a word renders the one that it is added to, and nothing else',
    LARGE,
    async () => {
      const { client, chatId, turn, fill } = await reactScene({ messageLimit: 200 });
      await fill(10_000);
      const chat = await opened(client, chatId);
      while (chat.view.getSnapshot().hasMore) await chat.loadOlder(200);
      const run = await turn();
      const messageId = await run.send('');
      await until(() => messagesOf(chat).some((message) => message.messageId === messageId), 'the message');
      show(client, <Page chatId={chatId} />);
      expect(texts()).toHaveLength(10_002);
      renders.forget();
      for (let word = 1; word <= 5; word++) {
        await act(async () => {
          await run.append(messageId, `${word} `);
          await until(() => messagesOf(chat).at(-1)?.props['content'] === '1 2 3 4 5 '.slice(0, 2 * word), 'the word');
        });
        expect(texts().at(-1)).toBe('1 2 3 4 5 '.slice(0, 2 * word));
        expect(renders.all).toEqual({ [messageId]: word });
      }
      // A message more: the list renders, and of the rows the new one.
      renders.forget();
      let next = '';
      await act(async () => {
        next = await run.send('next');
        await until(() => messagesOf(chat).at(-1)?.messageId === next, 'the message');
      });
      expect(renders.all).toEqual({ list: 1, [next]: 1 });
      await run.close();
    },
  );

  test('a list of ids alone does not render for a turn', async () => {
    const { client, chatId, turn } = await reactScene();
    const Ids = (): ReactNode => {
      renders.count('ids');
      return <p>{useMessageIds(chatId).length}</p>;
    };
    show(client, <Ids />);
    const chat = await opened(client, chatId);
    const run = await turn();
    await waitFor(() => expect(screen.getByText('1')).toBeTruthy());
    renders.forget();
    await act(async () => {
      await run.close();
      await until(() => chat.view.getSnapshot().turns.get(run.requestId)?.status === 'completed', 'the end');
    });
    expect(renders.all).toEqual({});
  });
});

test('tearing: two components show the same version of a message at every commit', async () => {
  const { client, chatId, turn } = await reactScene();
  const chat = await opened(client, chatId);
  const run = await turn();
  const messageId = await run.send('');
  await until(() => messagesOf(chat).at(-1)?.messageId === messageId, 'the message');
  const seen: string[][] = [];
  function Words({ name }: { name: string }): ReactNode {
    const message = useMessage(messageId, chatId);
    return <p data-testid={name}>{message ? textOf(message) : ''}</p>;
  }
  let again = (): void => undefined;
  function Both(): ReactNode {
    const [round, setRound] = useState(0);
    again = () => startTransition(() => setRound((before) => before + 1));
    return (
      <div data-round={round}>
        <Words name="a" />
        <Words name="b" />
      </div>
    );
  }
  show(client, <Both />);
  const observer = new MutationObserver(() =>
    seen.push(['a', 'b'].map((name) => screen.getByTestId(name).textContent ?? '')),
  );
  observer.observe(document.body, { subtree: true, characterData: true, childList: true });
  for (let word = 0; word < 20; word++) {
    await act(async () => {
      again();
      await run.append(messageId, `${word} `);
    });
  }
  const whole = Array.from({ length: 20 }, (_, word) => `${word} `).join('');
  await waitFor(() => expect(screen.getByTestId('a').textContent).toBe(whole));
  await waitFor(() => expect(seen.at(-1)).toEqual([whole, whole]));
  observer.disconnect();
  expect(seen.length).toBeGreaterThan(5);
  for (const [a, b] of seen) expect(a).toBe(b);
});

test('StrictMode: mounted twice, followed once; unmounted, left', async () => {
  const sent: string[] = [];
  const { url, chatId, turn } = await reactScene();
  const proxy = await Proxy.to(url);
  proxy.fate = (frame) => {
    if (frame.includes('"mode":"snapshot"')) sent.push('subscribed');
    return 'pass';
  };
  const client = clientOf(proxy.url, { auth: { userId: 'ann', teamId: 't1' }, autoConnect: false, leaveGraceMs: 0 });
  const page = show(client, <Page chatId={chatId} />, { strict: true });
  await waitFor(() => expect(status()).toBe('live'));
  const run = await turn('hello');
  await run.send('answer');
  await waitFor(() => expect(texts()).toEqual(['hello', 'answer']));
  expect(sent).toEqual(['subscribed']);
  expect(proxy.connections).toBe(1);
  page.unmount();
  const chat = client.chat(chatId);
  await until(() => chat.view.getSnapshot().status === 'stale', 'the end of the following');
  expect(messagesOf(chat).map(textOf)).toEqual(['hello', 'answer']);
});

test('another chatId shows the other chat alone, in the very render in which it changes', async () => {
  const { client, other, chatId, turn } = await reactScene();
  const run = await turn('first chat');
  await run.close();
  const { chat: second } = await other.call('chat:create', { assistantId: 'bot', share: 'team' });
  const frames: string[] = [];
  function Watched({ id }: { id: string }): ReactNode {
    const { chat, messageIds } = useChat(id);
    frames.push(`${id}: ${chat?.chatId ?? 'loading'} ${messageIds.length}`);
    return <p>{messageIds.length}</p>;
  }
  let go = (_: string): void => undefined;
  function Switch(): ReactNode {
    const [id, setId] = useState(chatId);
    go = setId;
    return <Watched id={id} />;
  }
  show(client, <Switch />);
  await waitFor(() => expect(screen.getByText('1')).toBeTruthy());
  act(() => go(second.chatId));
  await waitFor(() => expect(frames.at(-1)).toBe(`${second.chatId}: ${second.chatId} 0`));
  const allowed = [chatId, second.chatId].flatMap((id) => [`${id}: loading 0`, `${id}: ${id} 0`, `${id}: ${id} 1`]);
  expect(frames.filter((frame) => !allowed.includes(frame))).toEqual([]);
  expect(frames).toContain(`${second.chatId}: loading 0`);
  // Back again: what is held is there at once.
  act(() => startTransition(() => go(chatId)));
  await waitFor(() => expect(frames.at(-1)).toBe(`${chatId}: ${chatId} 1`));
});

test('SUB-4: a cut connection shows what was, then all that was missed', async () => {
  const { url, chatId, turn } = await reactScene();
  const proxy = await Proxy.to(url);
  const client = clientOf(proxy.url, { auth: { userId: 'ann', teamId: 't1' }, autoConnect: false });
  show(client, <Page chatId={chatId} />);
  const run = await turn('hello');
  const messageId = await run.send('one');
  await waitFor(() => expect(texts()).toEqual(['hello', 'one']));
  proxy.isUp = false;
  proxy.cut();
  await waitFor(() => expect(status()).toBe('stale'));
  expect(texts()).toEqual(['hello', 'one']);
  await run.append(messageId, ' two');
  await run.close();
  proxy.isUp = true;
  await waitFor(() => expect(texts()).toEqual(['hello', 'one two']));
  expect(status()).toBe('live');
});

describe('ends are states', () => {
  test('CMD-1: a chat that is not there', async () => {
    const { client } = await reactScene();
    show(client, <Page chatId="nowhere" />);
    await waitFor(() => expect(status()).toBe('ended: not_found'));
  });

  test('CMD-3: a chat that is deleted while it is on the page', async () => {
    const { client, other, chatId } = await reactScene();
    show(client, <Page chatId={chatId} />);
    await waitFor(() => expect(status()).toBe('live'));
    await other.chat(chatId).delete();
    await waitFor(() => expect(status()).toBe('ended: deleted'));
  });

  test('SUB-5: a chat that may be read no more', async () => {
    const { client, other, chatId } = await reactScene();
    show(client, <Page chatId={chatId} />);
    await waitFor(() => expect(status()).toBe('live'));
    await other.chat(chatId).update({ share: 'private' });
    await waitFor(() => expect(status()).toBe('ended: revoked'));
  });
});

test('sending: the input is on the page at once, and once', async () => {
  const { client, agent, chatId } = await reactScene();
  const shown: number[] = [];
  let start: ReturnType<typeof useChat>['start'] | null = null;
  function Sender(): ReactNode {
    const chat = useChat(chatId);
    start = chat.start;
    shown.push(chat.pending.length + chat.messageIds.length);
    return <p role="status">{chat.status}</p>;
  }
  show(client, <Sender />);
  await waitFor(() => expect(status()).toBe('live'));
  shown.length = 0;
  await act(async () => {
    const { turn } = await (start as unknown as ReturnType<typeof useChat>['start'])('hello');
    await (await agent.run(turn.requestId)).close();
  });
  await waitFor(() => expect(client.chat(chatId).view.getSnapshot().pending).toEqual([]));
  expect(shown.length).toBeGreaterThan(0);
  expect(new Set(shown)).toEqual(new Set([1]));
});
