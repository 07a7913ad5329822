import type { Command } from './command.js';

const TO_SERVER = ['url', 'token', 'user'] as const;

/** What the program can do, by name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    words: [],
    summary: 'serves chats until it is told to stop; settings are environment variables',
    options: [],
    load: async () => (await import('./serve.js')).serve,
  },
  migrate: {
    words: [],
    summary: 'brings the database to this version and says what it did (serve does so by itself)',
    options: [],
    load: async () => (await import('./migrate.js')).migrate,
  },
  copy: {
    words: [],
    summary: 'moves to another kind of database: copies all chats, and compares; run it again to go on',
    options: ['from', 'to'],
    load: async () => (await import('./copy.js')).copy,
  },
  token: {
    words: ['USER'],
    summary: 'prints a token signed with AUTH_JWT_SECRET, for development',
    options: ['team', 'tenant', 'roles', 'assistants', 'expires'],
    load: async () => (await import('./token.js')).token,
  },
  say: {
    words: ['CHAT', 'TEXT...'],
    summary: 'says something in a chat, new or old, and prints the answer as it comes',
    options: [...TO_SERVER, 'assistant'],
    load: async () => (await import('./say.js')).say,
  },
  tail: {
    words: ['CHAT'],
    summary: 'follows a chat until Ctrl-C',
    options: TO_SERVER,
    load: async () => (await import('./tail.js')).tail,
  },
  import: {
    words: ['SYSTEM'],
    summary: 'brings the chats of an older system (yao: agent_chat, agent_history) in, as yours; run it again to go on',
    options: ['from', 'report', 'owner', ...TO_SERVER, 'assistant'],
    load: async () => (await import('./import.js')).importChats,
  },
};
