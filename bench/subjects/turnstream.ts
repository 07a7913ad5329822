import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assistant } from '../../assistant/index.js';
import { answerCommands, subjectOptions } from './child.js';
import { sayInSteps } from '../load/steps.js';
import { built } from './built.js';
import { publishing, watchSockets } from './pace.js';
import { seedChats, type SeededChat } from './seed.js';

/** Turnstream as `npm run serve` runs it, with one more assistant: one that appends what the bench says. */

export interface TurnstreamOptions {
  readonly windowMs?: number;
  readonly isDirect?: boolean;
  /** Chats that are in the database before the server starts. */
  readonly seeds?: readonly SeededChat[];
}

const { windowMs, isDirect = true, seeds = [] } = subjectOptions<TurnstreamOptions>();
const { createTurnstream, readConfig } = await built();

/** What each chat's running turn takes appends with. */
const pens = new Map<string, (text: string) => Promise<void>>();

const pen: Assistant = {
  assistantId: 'pen',
  name: 'Pen',
  async run(ctx) {
    const messageId = await ctx.send('');
    pens.set(ctx.chat.chatId, (text) => ctx.append(messageId, text));
    await new Promise((_, reject) => ctx.abortSignal.addEventListener('abort', reject));
  },
};

const dataDir = mkdtempSync(join(tmpdir(), 'turnstream-bench-'));
const removeData = (): void => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
const config = readConfig({
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'silent',
  // Bounds per user and per message are those of one person; here one connection stands for thousands.
  RATE_LIMIT_PER_SECOND: '1000000',
  MAX_CONNECTIONS_PER_USER: '100000',
  MAX_MESSAGE_BYTES: '1000000000',
  MAX_TURN_BYTES: '1000000000',
  ...(windowMs === undefined ? {} : { COALESCE_MS: String(windowMs) }),
});
await seedChats(config.databaseUrl, seeds);
watchSockets();
const server = await createTurnstream({
  config,
  assistants: [pen, { assistantId: 'steps', name: 'Steps', run: sayInSteps }],
  isDirectFanOut: isDirect,
});

answerCommands(
  server.port,
  {
    ...publishing((chatId) => {
      const append = pens.get(chatId);
      if (!append) throw new Error(`no turn runs in ${chatId}`);
      return append;
    }),
    /** How many of these chats have a turn that takes appends. */
    writing: ({ chats: asked }: { chats: readonly string[] }) => asked.filter((chatId) => pens.has(chatId)).length,
  },
  removeData,
);
