import { describe, expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { ChatCommands, Result } from '../../protocol/index.js';
import { gauge } from '../harness/metric.js';
import { Person } from '../harness/person.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { isSpread } from '../harness/spread.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const LOCAL = { userId: 'local' };

const save = (chats: ChatCommands, chatId: string, ...contents: string[]): Promise<Result<'message:save'>> =>
  chats.call('message:save', {
    chatId,
    messages: contents.map((content) => ({ role: 'user', type: 'text', props: { content } })),
  });

const revisionOf = async (chats: ChatCommands, chatId: string): Promise<string> =>
  String((await chats.call('message:list', { chatId, limit: 1, withRevision: true })).revision);

describe('CMD-5: the revision of a chat', () => {
  test('stays while messages are added, by turns too; becomes another with each edit, deletion and replacement', async () => {
    const { server, chatId, person, agent, turn } = await scene();
    const chats = server.as(LOCAL);
    const seen = [await revisionOf(chats, chatId)];
    const stays = async (what: string) => expect(await revisionOf(chats, chatId), what).toBe(seen.at(-1));
    const changes = async (what: string) => {
      const now = await revisionOf(chats, chatId);
      expect(seen, what).not.toContain(now);
      seen.push(now);
    };
    const { messages } = await save(chats, chatId, 'one');
    await stays('a saved message');
    const run = await turn();
    const answer = await run.send('half');
    await run.append(answer, ' and half');
    await stays('an open message');
    await run.push({ op: 'end', messageId: answer });
    await stays('a closed message');
    await person.do('message:update', { messageId: answer, props: { content: 'edited' } });
    await changes('an edit before it is stored');
    await run.close();
    await person.ended(chatId, run.requestId);
    await stays('the end of a turn');
    await person.do('message:update', { messageId: messages[0]?.messageId, props: { content: 'two' } });
    await changes('an edit');
    await person.do('message:delete', { chatId, messageIds: [messages[0]?.messageId] });
    await changes('a deletion');
    const { turn: next } = await person.do<Result<'turn:start'>>('turn:start', { chatId, regenerate: run.requestId });
    const again = await agent.run(next.requestId);
    await stays('a turn that answers anew, before it says something');
    await again.send('another');
    await changes('an answer in the place of another');
    await again.close();
    await person.ended(chatId, next.requestId);
    await stays('its end');
    const other = await person.createChat();
    expect(await revisionOf(chats, other)).toBe(await revisionOf(chats, other));
  });

  test('becomes another with a message that is told of behind some that have their places behind it', async () => {
    // It sends so much whenever the event loop turns that what takes long to save cannot take its place behind everything.
    const restless = defineAssistant({
      assistantId: 'restless',
      run: async (ctx) => {
        while (!ctx.abortSignal.aborted) {
          await Promise.all(Array.from({ length: 50 }, () => ctx.send('.')));
          await new Promise(setImmediate);
        }
      },
    });
    const server = await startServer({ assistants: [restless] });
    const person = await new Person(server.url).open();
    const chatId = await person.createChat({ assistantId: 'restless' });
    const view = await person.follow(chatId);
    const chats = server.as(LOCAL);
    await person.start(chatId, 'go');
    await until(() => view.messages.length > 1, 'the first messages');
    const before = await revisionOf(chats, chatId);
    await save(chats, chatId, ...Array.from({ length: 1000 }, () => 'late'));
    const after = await revisionOf(chats, chatId);
    await person.do('turn:stop', { chatId });
    const created = view.events.flatMap((event) => (event.type === 'message.created' ? [event.message] : []));
    const late = created.findIndex(({ props }) => props['content'] === 'late');
    expect(created[late - 1]?.sequence).toBeGreaterThan(created[late]?.sequence ?? 0);
    expect(after).not.toBe(before);
  });

  // Among nodes, a chat that nobody needs is moved by whoever asks next.
  test.skipIf(isSpread)('outlives the time in which nobody needs the chat, and no restart', async () => {
    const dataDir = temporaryDirectory();
    const server = await startServer({ dataDir, env: { LOG_TTL_MS: '100' } });
    const chats = server.as(LOCAL);
    const chatIds = ['edited', 'only-added-to'];
    const revisions: string[] = [];
    for (const chatId of chatIds) {
      await chats.call('chat:create', { chatId, assistantId: 'echo' });
      const { messages } = await save(chats, chatId, 'one');
      if (chatId === 'edited')
        await chats.call('message:update', { messageId: messages[0]?.messageId ?? '', props: { content: 'new' } });
      revisions.push(await revisionOf(chats, chatId));
    }
    await until(async () => (await gauge(server.url, 'sessions')) === 0, 'no session in memory');
    for (const [index, chatId] of chatIds.entries()) expect(await revisionOf(chats, chatId)).toBe(revisions[index]);
    await server.close();
    const restarted = (await startServer({ dataDir })).as(LOCAL);
    for (const chatId of chatIds) expect(revisions).not.toContain(await revisionOf(restarted, chatId));
  });
});
