import { describe, expect, test } from 'vitest';
import { newestBranch, rowsOf, type Branch } from '../../../stores/atomic/branch.js';
import { readDump } from '../../../stores/atomic/dump.js';
import { BaseChatHistory, SchemaRegistry, ValueError, type WireMessage } from '../../../stores/atomic/index.js';

/** A history from scratch, as somebody else may write one. */
class ListHistory extends BaseChatHistory {
  currentTurnId: string | null = null;
  history: { role: string; content: never; turnId: string | null }[] = [];
  initializeTurn(): void {
    this.currentTurnId = 'turn';
  }
  addMessage(role: string, content: unknown): void {
    if (this.currentTurnId === null) this.initializeTurn();
    this.history.push({ role, content: content as never, turnId: this.currentTurnId });
  }
  getHistory(): WireMessage[] {
    return this.history.map(({ role, content }) => ({ role, content: JSON.stringify(content) }));
  }
  getCurrentTurnId(): string | null {
    return this.currentTurnId;
  }
  deleteTurnId(turnId: string): void {
    this.history = this.history.filter((message) => message.turnId !== turnId);
  }
  getMessageCount(): number {
    return this.history.length;
  }
  dump(): string {
    return JSON.stringify(this.history);
  }
  load(serialized: string): void {
    this.history = JSON.parse(serialized) as typeof this.history;
  }
  copy(): ListHistory {
    const copy = new ListHistory();
    copy.load(this.dump());
    return copy;
  }
}

describe('BaseChatHistory', () => {
  test('Atomic 4c.28: it cannot be instantiated, and no class that lacks one of its methods', () => {
    const Abstract = BaseChatHistory as unknown as new () => BaseChatHistory;
    expect(() => new Abstract()).toThrow(TypeError);
    class Incomplete extends ListHistory {}
    Object.defineProperty(Incomplete.prototype, 'copy', { value: undefined });
    expect(() => new Incomplete()).toThrow(/Incomplete without copy/);
  });

  test('Atomic 4c.31: an implementation from scratch works', () => {
    const history = new ListHistory();
    history.addMessage('user', { text: 'x' });
    expect(history.copy().getHistory()).toEqual([{ role: 'user', content: '{"text":"x"}' }]);
  });
});

describe('a dump', () => {
  const schemas = new SchemaRegistry();
  const message = {
    role: 'user',
    content: { class_name: 'BasicChatInputSchema', data: '{"chat_message":"hi"}' },
    turn_id: 't',
  };
  const form = { history: [message], max_messages: 5, current_turn_id: 't' };

  test('one as the Python framework writes it is read', () => {
    // json.dumps escapes what is not ASCII and puts spaces.
    const text =
      '{"history": [{"role": "user", "content": {"class_name": "BasicChatInputSchema", "data": "{\\"chat_message\\":\\"\\u00e0\\"}"}, "turn_id": "t"}], "max_messages": null, "current_turn_id": "t"}';
    const { messages, maxMessages, currentTurnId } = readDump(text, schemas);
    expect(messages.map(({ content }) => content.data)).toEqual([{ chat_message: 'à' }]);
    expect([maxMessages, currentTurnId]).toEqual([null, 't']);
  });

  test.each([
    ['no JSON', 'invalid json'],
    ['no text', 42 as unknown as string],
    ['a list', '[]'],
    ['null', 'null'],
    ['no history', JSON.stringify({ ...form, history: undefined })],
    ['no max_messages', JSON.stringify({ ...form, max_messages: undefined })],
    ['no current_turn_id', JSON.stringify({ ...form, current_turn_id: undefined })],
    ['a bound that is none', JSON.stringify({ ...form, max_messages: -1 })],
    ['a role that is no text', JSON.stringify({ ...form, history: [{ ...message, role: 1 }] })],
    [
      'an unknown class',
      JSON.stringify({ ...form, history: [{ ...message, content: { class_name: 'os.system', data: '{}' } }] }),
    ],
    [
      'content that does not fit',
      JSON.stringify({ ...form, history: [{ ...message, content: { ...message.content, data: '{}' } }] }),
    ],
    [
      'content that is no JSON',
      JSON.stringify({ ...form, history: [{ ...message, content: { ...message.content, data: '{' } }] }),
    ],
  ])('Atomic 4c.13: %s is a ValueError', (_case, text) => {
    expect(() => readDump(text, schemas)).toThrow(ValueError);
  });
});

describe('branches', () => {
  const fork: Branch = { id: 'fork', begins: [{ branch: null, above: 0, upTo: 2 }] };
  const again: Branch = { id: 'again', begins: [...fork.begins, { branch: 'fork', above: 4, upTo: 5 }] };
  const main: Branch = { id: null, begins: [] };
  const rows = [main, main, main, null, fork, null, fork, main, again, null].map((branch, index) => ({
    sequence: index + 1,
    branch,
  }));
  const sequences = (branch: Branch) => rowsOf(rows, branch).map(({ sequence }) => sequence);

  test('a list is its beginning, its own, and what others wrote while it was written', () => {
    expect(newestBranch(rows)).toBe(again);
    expect(newestBranch([])).toEqual(main);
    expect(sequences(main)).toEqual([1, 2, 3, 4, 6, 8, 10]);
    expect(sequences(fork)).toEqual([1, 2, 5, 6, 7, 10]);
    expect(sequences(again)).toEqual([1, 2, 5, 9, 10]);
    expect(sequences({ id: 'unwritten', begins: fork.begins })).toEqual([1, 2]);
  });
});
