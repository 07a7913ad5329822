import type { Assistant } from '../../assistant/index.js';
import { built } from './built.js';
import { seedChats, type SeededChat } from './seed.js';

export interface EmbeddedOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly assistants?: readonly Assistant[];
  readonly isDirect?: boolean;
  /** Chats that are in the database before the server starts. */
  readonly seeds?: readonly SeededChat[];
}

/** The server of dist/ in this process, with its database on the disk. */
export async function embedded(
  dataDir: string,
  { env, assistants = [], isDirect = true, seeds = [] }: EmbeddedOptions = {},
) {
  const { createTurnstream, readConfig } = await built();
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    // Bounds per user and per message are those of one person; here one connection stands for thousands.
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BYTES_PER_SECOND: '100000000',
    MAX_CONNECTIONS_PER_USER: '100000',
    MAX_MESSAGE_BYTES: '1000000000',
    MAX_TURN_BYTES: '1000000000',
    ...env,
  });
  await seedChats(config.databaseUrl, seeds);
  return createTurnstream({ config, assistants, isDirectFanOut: isDirect });
}
