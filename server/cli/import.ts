import type { Call } from './command.js';
import { ChatImport } from './import/chat-import.js';
import { openLegacySource } from './import/open-legacy-source.js';
import { patient } from './import/patience.js';
import { Report } from './import/report.js';
import { openLine } from './line.js';
import { note, print } from './terminal.js';
import { endWhenTold } from './told.js';
import { UsageError } from './usage-error.js';

const ASSISTANT_OF_OTHERS = 'echo';

/**
 * Brings the conversations of an older system into a running server, as the caller's. It can be stopped and run again at
 * any time: what is here already is not added twice. 0 where every row is here, 1 where one was refused.
 *
 * @throws {UsageError} another system than `yao`, or no database to read from
 * @throws {Error} the database or the server does not answer
 */
export async function importChats({ words: [system = ''], options }: Call): Promise<number> {
  if (system !== 'yao') throw new UsageError(`there is no import from ${system}; import yao is one`);
  if (options.from === undefined) throw new UsageError('import yao needs --from URL');
  endWhenTold();
  const source = await openLegacySource(options.from);
  try {
    const { client, broken } = openLine(options, note);
    try {
      const report = new Report((line) => print(`${line.replace(/[\r\n]+/g, ' ')}\n`), options.report);
      const target = {
        chats: patient(client),
        maxFrameBytes: () => client.limits.maxFrameBytes,
        assistantId: options.assistant ?? ASSISTANT_OF_OTHERS,
        now: Date.now(),
      };
      const owners = new Set<string | null>();
      for await (const legacy of source.chats()) {
        if (options.owner !== undefined && legacy.sid !== options.owner) continue;
        owners.add(legacy.sid);
        await Promise.race([new ChatImport(source, target, report, legacy).run(), broken]);
      }
      const state = client.connection.getSnapshot();
      const owner = state.status === 'open' ? (state.hello?.user.userId ?? null) : null;
      return ended(report, { rows: source.rowCount, owners: owners.size, owner, isAll: options.owner === undefined });
    } finally {
      client.close();
    }
  } finally {
    await source.close();
  }
}

interface End {
  /** Rows that the old table had at the beginning. */
  readonly rows: number;
  /** How many the conversations belonged to. */
  readonly owners: number;
  /** Whose they are now. */
  readonly owner: string | null;
  readonly isAll: boolean;
}

/** Says what became of everything. @returns the exit code */
function ended(report: Report, { rows, owners, owner, isAll }: End): number {
  const { chats, rows: seen } = report.totals;
  const missed = isAll ? Math.max(0, rows - seen.kept - seen.changed - seen.refused) : 0;
  if (missed > 0) note(`${missed} rows of agent_history were not reached: run it again`);
  if (owner !== null)
    print(`owner: ${owner} has them now; the owners they had (${owners}) stand in metadata.yao.row.sid\n`);
  report.close({ owner, owners, missed });
  return chats.refused + seen.refused + missed > 0 ? 1 : 0;
}
