import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChatCommands } from '../../protocol/index.js';
import { allMessages } from '../../stores/pages.js';
import { CliProcess } from '../harness/cli-process.js';
import { temporaryDirectory, type TestServer } from '../harness/server.js';

export const AT = '2025-11-02 10:00:00+00:00';
export const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));

interface Line {
  readonly table?: string;
  readonly id?: string | null;
  readonly outcome?: string;
  readonly reasons?: readonly string[];
  readonly summary?: unknown;
}

/** Runs the import to its end. */
export async function imported(server: { url: string }, from: string, ...more: readonly string[]) {
  const file = join(temporaryDirectory(), 'report.jsonl');
  const cli = new CliProcess([
    'import',
    'yao',
    '--from',
    from,
    '--url',
    server.url,
    '--user',
    'ann',
    '--report',
    file,
    ...more,
  ]);
  const code = await cli.ended();
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const outcome = (table: string, id: string | null) => lines.find((line) => line.table === table && line.id === id);
  return { code, stdout: cli.stdout, stderr: cli.stderr, lines, outcome, summary: lines.at(-1)?.summary };
}

export const as = (server: TestServer, userId = 'ann') => server.as({ userId });
export const contents = async (server: TestServer, chatId: string) => contentsFor(as(server), chatId);
export const contentsFor = async (chats: ChatCommands, chatId: string) =>
  (await allMessages(chats, { chatId })).map(({ props }) => props['content']);

export const chat = (chatId: string, more: object = {}) => ({
  chat_id: chatId,
  sid: 'u1',
  assistant_id: 'neo',
  created_at: AT,
  ...more,
});
export const row = (cid: string | null, content: string | null, more: object = {}) => ({
  ...{ sid: 'u1', uid: 'u1', cid, role: 'user', name: '', content, created_at: AT },
  ...more,
});
