/** An option of the command line. */
interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What its value is, for the help; none for a switch. */
  readonly value?: string;
  readonly meaning: string;
}

/** Every option that a command may take. */
export const OPTIONS = {
  url: {
    type: 'string',
    value: 'URL',
    meaning: 'where the server listens (TURNSTREAM_URL, else http://127.0.0.1:3000)',
  },
  token: { type: 'string', value: 'TOKEN', meaning: 'who you are, where the server asks for it (TURNSTREAM_TOKEN)' },
  user: {
    type: 'string',
    value: 'USER',
    meaning: 'who you say you are, where the server does not ask (default local)',
  },
  assistant: { type: 'string', value: 'ID', meaning: 'who answers (the chat’s assistant; in a new chat echo)' },
  from: { type: 'string', value: 'URL', meaning: 'the old database: file:/path/old.db or postgresql://user@host/name' },
  to: { type: 'string', value: 'URL', meaning: 'the new database, which may not be there yet' },
  report: { type: 'string', value: 'FILE', meaning: 'what became of every row, as JSON lines' },
  owner: { type: 'string', value: 'SID', meaning: 'only what this user of the old system had (default everything)' },
  team: { type: 'string', value: 'TEAM', meaning: 'the team that the token is of' },
  tenant: { type: 'string', value: 'TENANT', meaning: 'the tenant that the token is of' },
  roles: { type: 'string', value: 'ROLES', meaning: 'user, agent, admin, comma-separated (default user)' },
  assistants: { type: 'string', value: 'IDS', meaning: 'what an agent may serve, comma-separated (default anything)' },
  expires: { type: 'string', value: 'TIME', meaning: 'how long the token holds: 30s, 15m, 12h, 7d (default 12h)' },
  help: { type: 'boolean', short: 'h', meaning: 'shows this' },
  version: { type: 'boolean', short: 'v', meaning: 'shows the version' },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof OPTIONS;

/** What was given. */
export type Options = { readonly [N in OptionName]?: (typeof OPTIONS)[N]['type'] extends 'string' ? string : boolean };

/** One line of help per option. */
export function describeOptions(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const option: Option = OPTIONS[name];
    const short = option.short === undefined ? '    ' : `-${option.short}, `;
    return [`${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.meaning] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, meaning]) => `  ${left.padEnd(width)}  ${meaning}`).join('\n');
}
