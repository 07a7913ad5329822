import { describe, expect, test } from 'vitest';
import { ChatError, type ChatCommands } from '../../protocol/index.js';
import { ChatHistory, SchemaRegistry, type BaseChatHistory } from '../../stores/atomic/index.js';
import { allMessages } from '../../stores/pages.js';
import { uid } from '../harness/peer.js';
import { startServer } from '../harness/server.js';

const schemas = new SchemaRegistry();
const said = (text: string) => schemas.make('BasicChatInputSchema', { chat_message: text });

/** What an Atomic agent does with its history, in its order; its model answers with the number of messages it was given. */
class Agent {
  readonly #initial: BaseChatHistory;

  constructor(
    public history: BaseChatHistory,
    private readonly maxContext = Infinity,
  ) {
    this.#initial = history.copy();
  }

  run(text: string): string {
    this.history.initializeTurn();
    this.history.addMessage('user', said(text));
    while (this.history.getMessageCount() > this.maxContext)
      this.history.deleteTurnId(this.history.history[0]!.turnId!);
    const answer = `${this.history.getHistory().length}`;
    this.history.addMessage('assistant', schemas.make('BasicChatOutputSchema', { chat_message: answer }));
    return answer;
  }

  resetHistory(): void {
    this.history = this.#initial.copy();
  }
}

class PersistentHistory extends ChatHistory {
  get session(): string {
    return 'persistent';
  }
}

async function scene() {
  const server = await startServer();
  const chats = server.as({ userId: 'ann' });
  const chatId = uid('chat');
  const open = (commands: ChatCommands = chats) => PersistentHistory.open({ chats: commands, chatId, schemas });
  return { server, chats, chatId, open, rows: () => allMessages(chats, { chatId }) };
}

const texts = (history: BaseChatHistory) =>
  history.history.map(({ content: { data } }) => (data as { chat_message: string }).chat_message);

describe('copy()', () => {
  test('Atomic 4c.7, 29, 32: a copy is equal, of the same class, and has the same chat and a list of its own', async () => {
    const { open, rows } = await scene();
    const history = await open();
    history.addMessage('user', said('a'));
    const copy = history.copy();
    expect(copy).toBeInstanceOf(PersistentHistory);
    expect(copy.session).toBe('persistent');
    expect(copy.dump()).toBe(history.dump());
    copy.addMessage('user', said('of the copy'));
    history.addMessage('user', said('of the first'));
    expect([texts(history), texts(copy)]).toEqual([
      ['a', 'of the first'],
      ['a', 'of the copy'],
    ]);
    copy.initializeTurn();
    expect(history.currentTurnId).not.toBe(copy.currentTurnId);
    await history.flushed();
    expect((await rows()).map(({ props }) => props['content'])).toEqual(['a', 'of the copy', 'of the first']);
    // Both are read again as they are: each is a branch of the chat.
    await Promise.all([history.ready(), copy.ready()]);
    expect([texts(history), texts(copy)]).toEqual([
      ['a', 'of the first'],
      ['a', 'of the copy'],
    ]);
  });

  test('Atomic 4c.30, 33: a history drives an agent; one that is empty is taken as it is', async () => {
    const { open, rows } = await scene();
    const history = await open();
    const agent = new Agent(history);
    expect(agent.history).toBe(history);
    expect(agent.run('hi')).toBe('1');
    expect(history.getMessageCount()).toBe(2);
    await history.flushed();
    expect(await rows()).toHaveLength(2);
  });

  test('Atomic 4c.32: an agent that resets goes on in the same chat, and the reset outlives the process', async () => {
    const { open, rows } = await scene();
    const history = await open();
    history.addMessage('system', said('primed'));
    const agent = new Agent(history);
    agent.run('one');
    agent.resetHistory();
    expect(agent.history).toBeInstanceOf(PersistentHistory);
    expect(texts(agent.history)).toEqual(['primed']);
    agent.run('two');
    agent.resetHistory();
    agent.run('three');
    agent.run('four');
    expect(texts(history)).toEqual(['primed', 'one', '2']);
    await history.flushed();
    expect(await rows()).toHaveLength(9);
    const again = await open();
    expect(again.dump()).toBe(agent.history.dump());
    expect(texts(again)).toEqual(['primed', 'three', '2', 'four', '4']);
    // And a copy of what was read again goes on from there.
    const later = new Agent(again);
    later.run('five');
    later.resetHistory();
    later.run('six');
    await again.flushed();
    expect(texts(await open())).toEqual(['primed', 'three', '2', 'four', '4', 'six', '6']);
  });

  test('a reset to nothing does not bring back what people wrote before it', async () => {
    const { open, chats, chatId } = await scene();
    const person = (content: string) =>
      chats.call('message:save', { chatId, messages: [{ role: 'user', type: 'text', props: { content } }] });
    const history = await open();
    const agent = new Agent(history);
    agent.run('one');
    await history.flushed();
    await person('before');
    agent.resetHistory();
    agent.run('two');
    await history.flushed();
    await person('after');
    expect(texts(await open())).toEqual(['two', '1', 'after']);
  });

  test('what one list deletes, another keeps: it stores its list anew with its next message', async () => {
    const { open, rows } = await scene();
    const history = await open();
    history.addMessage('user', said('primed'));
    const agent = new Agent(history, 2);
    agent.run('one');
    // The turn of the priming was trimmed to make room.
    agent.run('two');
    await history.flushed();
    expect(texts(await open())).toEqual(texts(agent.history));
    agent.resetHistory();
    expect(texts(agent.history)).toEqual(['primed']);
    agent.run('three');
    expect(texts(agent.history)).toEqual(['primed', 'three', '2']);
    await history.flushed();
    const again = await open();
    expect(again.dump()).toBe(agent.history.dump());
    expect(new Set((await rows()).map(({ messageId }) => messageId)).size).toBe((await rows()).length);
  });

  test('a load into one leaves a copy as it is', async () => {
    const { open } = await scene();
    const history = await open();
    history.addMessage('user', said('a'));
    const copy = history.copy();
    const other = await PersistentHistory.open({ ...(await scene()), schemas });
    other.addMessage('user', said('other'));
    history.load(other.dump());
    expect([texts(history), texts(copy)]).toEqual([['other'], ['a']]);
    await history.flushed();
    expect(texts(await open())).toEqual(['other']);
    copy.addMessage('user', said('b'));
    await copy.flushed();
    expect(texts(await open())).toEqual(['a', 'b']);
    await Promise.all([history.ready(), copy.ready()]);
    expect([texts(history), texts(copy)]).toEqual([['other'], ['a', 'b']]);
  });
});

describe('writing behind the list', () => {
  /** The same commands on a line that breaks: before the server hears of one, or before its answer is heard. */
  function breaking(chats: ChatCommands) {
    const line = { breaksBefore: 0, breaksAfter: 0, calls: 0 };
    const commands: ChatCommands = {
      async call(name, args) {
        line.calls++;
        if (line.breaksBefore-- > 0) throw new ChatError('storage_unavailable');
        const result = await chats.call(name, args);
        if (line.breaksAfter-- > 0) throw new ChatError('storage_unavailable');
        return result;
      },
    };
    return { line, commands };
  }

  test('what failed is told by flushed(), stays in its place, and is written by the next try, once', async () => {
    const { chats, open, rows } = await scene();
    const { line, commands } = breaking(chats);
    const history = await open(commands);
    line.breaksBefore = 1;
    history.addMessage('user', said('a'));
    history.addMessage('assistant', said('b'));
    await expect(history.flushed()).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect([texts(history), history.unwritten, await rows()]).toEqual([['a', 'b'], 2, []]);
    line.breaksAfter = 1;
    await expect(history.flushed()).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await rows()).toHaveLength(1);
    await history.flushed();
    expect(history.unwritten).toBe(0);
    line.breaksAfter = 1;
    history.deleteTurnId(history.currentTurnId!);
    await expect(history.flushed()).rejects.toThrow();
    // Also the next change tries again.
    history.addMessage('user', said('c'));
    await history.flushed();
    expect((await rows()).map(({ props }) => props['content'])).toEqual(['c']);
  });

  test('what can never be written is told, holds up nothing, and can be given up', async () => {
    const { chats, chatId, open, rows } = await scene();
    const history = await open();
    history.addMessage('user', said('a'));
    await history.flushed();
    history.addMessage('user', said('x'.repeat(5 * 1024 * 1024)));
    history.addMessage('user', said('b'));
    await expect(history.flushed()).rejects.toMatchObject({ code: 'payload_too_large' });
    expect([history.unwritten, (await rows()).map(({ props }) => props['content'])]).toEqual([0, ['a', 'b']]);
    await history.discardUnwritten();
    expect(texts(history)).toEqual(['a', 'b']);
    history.addMessage('user', said('c'));
    await history.flushed();
    expect(texts(await open())).toEqual(['a', 'b', 'c']);
    await chats.call('chat:delete', { chatId });
    history.addMessage('user', said('d'));
    await expect(history.flushed()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('what one gives up, a copy has still, and writes with its next message', async () => {
    const { chats, open } = await scene();
    const { line, commands } = breaking(chats);
    const history = await open(commands);
    history.addMessage('user', said('a'));
    await history.flushed();
    const copy = history.copy();
    line.breaksBefore = 1;
    copy.addMessage('user', said('b'));
    await expect(history.flushed()).rejects.toThrow();
    await history.discardUnwritten();
    copy.addMessage('user', said('c'));
    await copy.flushed();
    expect([texts(history), texts(await open())]).toEqual([['a'], ['a', 'b', 'c']]);
  });

  test('ready() brings in what others wrote, and loses nothing that is added while it reads', async () => {
    const { chats, open } = await scene();
    let whenRead: (() => void) | undefined;
    const commands: ChatCommands = {
      async call(name, args) {
        const result = await chats.call(name, args);
        if (name === 'message:list') whenRead?.();
        return result;
      },
    };
    const [mine, other] = [await open(commands), await open()];
    other.addMessage('user', said('other'));
    await other.flushed();
    mine.addMessage('user', said('mine'));
    whenRead = () => {
      whenRead = undefined;
      mine.addMessage('user', said('meanwhile'));
    };
    await mine.ready();
    expect(texts(mine)).toEqual(['other', 'mine', 'meanwhile']);
    expect(texts(await open())).toEqual(texts(mine));
  });

  test('a turn of another chat is no obstacle: the message keeps its name', async () => {
    const { chats, open, rows } = await scene();
    const { chat } = await chats.call('chat:create', { assistantId: 'echo' });
    const { turn } = await chats.call('turn:start', { chatId: chat.chatId, input: 'hi' });
    const history = await open();
    history.currentTurnId = turn.requestId;
    history.addMessage('user', said('a'));
    history.currentTurnId = 'no id of ours, as a dump may have it: ü';
    history.addMessage('user', said('b'));
    await history.flushed();
    expect((await rows()).map(({ requestId }) => requestId)).toEqual([null, null]);
    expect((await open()).dump()).toBe(history.dump());
  });

  test('who may not change the chat is told so', async () => {
    const { server, chats, chatId, open } = await scene();
    await open();
    const bob = server.as({ userId: 'bob' });
    await expect(open(bob)).rejects.toBeInstanceOf(ChatError);
    await chats.call('chat:update', { chatId, public: true });
    const history = await open(bob);
    history.addMessage('user', said('x'));
    await expect(history.flushed()).rejects.toMatchObject({ code: 'forbidden' });
  });
});
