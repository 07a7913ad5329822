import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assistant } from '../../assistant/index.js';
import { answerCommands, subjectOptions } from './child.js';
import { sayInSteps } from '../load/steps.js';
import { embedded } from './embedded.js';
import { publishing, watchSockets } from './pace.js';
import type { SeededChat } from './seed.js';

/** Turnstream as `npm run serve` runs it, with one more assistant: one that appends what the bench says. */

export interface TurnstreamOptions {
  readonly windowMs?: number;
  readonly isDirect?: boolean;
  /** Chats that are in the database before the server starts. */
  readonly seeds?: readonly SeededChat[];
  /** Settings beside those of every subject. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it keeps its data; one that is not told deletes it when it ends. */
  readonly dataDir?: string;
}

const { windowMs, isDirect = true, seeds = [], env = {}, dataDir: given } = subjectOptions<TurnstreamOptions>();

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

/** Says what it was asked, in one piece. */
const whole: Assistant = {
  assistantId: 'whole',
  name: 'Whole',
  async run(ctx) {
    const asked = ctx.input[0]?.props['content'];
    await ctx.send(typeof asked === 'string' ? asked : '');
  },
};

const dataDir = given ?? mkdtempSync(join(tmpdir(), 'turnstream-bench-'));
const removeData = (): void => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
watchSockets();
const server = await embedded(dataDir, {
  env: { ...(windowMs === undefined ? {} : { COALESCE_MS: String(windowMs) }), ...env },
  assistants: [pen, whole, { assistantId: 'steps', name: 'Steps', run: sayInSteps }],
  isDirect,
  seeds,
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
