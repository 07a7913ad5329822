import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import type { Chat, ChatCommands } from '../../protocol/index.js';
import { allMessages } from '../../stores/pages.js';
import { CliProcess } from '../harness/cli-process.js';
import { postgresDatabase } from '../harness/postgres-database.js';
import { startServer, temporaryDirectory, type TestServer } from '../harness/server.js';
import { until } from '../harness/until.js';

export const TABLES = ['agent_chat', 'agent_message', 'agent_turn', 'agent_step', 'agent_revocation'];

/** Runs the copy to its end. */
export async function copied(from: string, to: string, env: Record<string, string> = {}) {
  const cli = new CliProcess(['copy', '--from', from, '--to', to], env);
  const code = await cli.ended();
  return { code, stdout: cli.stdout, stderr: cli.stderr };
}

/** The address of a PostgreSQL database that is not there yet, and is gone after the test. */
export function newPostgres(): string {
  const { url, remove } = postgresDatabase();
  onTestFinished(remove);
  return url;
}

export interface Folder {
  readonly dataDir: string;
  /** Of the SQLite database in it. */
  readonly url: string;
  readonly path: string;
}

export function newFolder(): Folder {
  const dataDir = temporaryDirectory();
  const path = join(dataDir, 'turnstream.db');
  return { dataDir, url: `file:${path}`, path };
}

/** Records two steps and what it was asked, in a space and out of it. */
const clerk = defineAssistant({
  assistantId: 'clerk',
  async run(ctx) {
    const asked = ctx.input.map(({ props }) => props);
    await ctx.step('input', { asked }, () => null);
    await ctx.space.set('количество', 0.1 + 0.2);
    await ctx.send({
      type: 'table',
      props: {
        rows: [
          [1, 1e21, -5e-7],
          [true, null, '𝄞 \\ " \u2028'],
        ],
        z: 1,
        a: { y: 2, b: [] },
      },
    });
    if (JSON.stringify(asked).includes('fail')) throw new Error('nothing was found');
    await ctx.step('tool', 'a text, and no object', () => 1e21);
  },
});

export const serverOn = (databaseUrl: string, dataDir = temporaryDirectory()): Promise<TestServer> =>
  startServer({ dataDir, env: { DATABASE_URL: databaseUrl }, assistants: [clerk] });

const OWNERS: readonly Parameters<TestServer['as']>[0][] = [
  { userId: 'ann' },
  { userId: 'Zoë', teamId: 'команда', tenantId: 'n1' },
  { userId: 'root', tenantId: 'n1', roles: ['admin'] },
];

/** What a server has after a while: chats of several people, turns of all ends, steps, deletions, revocations, long and odd texts. */
export async function fill(server: TestServer, messages = 40): Promise<void> {
  for (const [index, owner] of OWNERS.entries()) {
    const chats = server.as(owner);
    for (const chatId of [`c${index}`, `d${index}`, `gone${index}`]) {
      await chats.call('chat:create', {
        chatId,
        assistantId: 'clerk',
        title: `İstanbul ${chatId} 𝄞`,
        metadata: { b: 1, a: [2] },
      });
      for (const input of ['first', 'fail', { type: 'text', props: { content: 'ﬁn', n: -0.5 } }])
        await turn(chats, chatId, input);
      await chats.call('message:save', { chatId, messages: Array.from({ length: messages }, (_, n) => said(n)) });
      const { messages: page } = await chats.call('message:list', { chatId, limit: 5 });
      await chats.call('message:delete', { chatId, messageIds: page.slice(0, 2).map(({ messageId }) => messageId) });
    }
    await chats.call('message:save', {
      chatId: `c${index}`,
      messages: [{ ...said(1), props: { content: '𝄞'.repeat(4e5) } }],
    });
    await chats.call('chat:update', { chatId: `d${index}`, status: 'archived', share: 'team', sort: 7 });
    await chats.call('chat:delete', { chatId: `gone${index}` });
  }
  const response = await fetch(`${server.url}/v1/admin/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user-id': 'root', 'x-roles': 'admin', 'x-tenant-id': 'n1' },
    body: JSON.stringify({ userId: 'mallory' }),
  });
  if (!response.ok) throw new Error(await response.text());
}

const said = (n: number) => ({
  role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
  type: 'text',
  // Every tenth is large.
  props: { content: n % 10 === 0 ? `${n} ${'длинный текст '.repeat(3000)}` : `message ${n}` },
});

async function turn(
  chats: ChatCommands,
  chatId: string,
  input: string | { type: string; props: object },
): Promise<void> {
  const { turn } = await chats.call('turn:start', { chatId, input: input as string });
  const { requestId } = turn;
  await until(async () => (await chats.call('turn:get', { requestId })).turn.endedAt, `the end of ${requestId}`);
}

/** All that a server answers about every chat, to each of its owners. */
export function histories(server: TestServer) {
  return Promise.all(
    OWNERS.map(async (owner) => {
      const chats = server.as(owner);
      const { data: list } = await chats.call('chat:list', {});
      const archived = await chats.call('chat:list', { status: 'archived' });
      const found = await chats.call('chat:list', { keywords: 'istanbul' });
      return { list, archived, found, histories: await Promise.all(list.map((chat) => historyOf(chats, chat))) };
    }),
  );
}

async function historyOf(chats: ChatCommands, { chatId }: Chat) {
  const { turns } = await chats.call('turn:list', { chatId });
  const steps = await Promise.all(turns.map(({ requestId }) => chats.call('step:list', { requestId })));
  return { messages: await allMessages(chats, { chatId }), turns, steps };
}

/** Changes rows past the store, as somebody with the sqlite3 program would. */
export function changed(path: string, statements: readonly string[]): void {
  const file = new Database(path);
  for (const sql of statements) file.exec(sql);
  file.close();
}
