import { createChats } from '../../load/crowd.js';
import { many } from '../../load/many.js';
import { Talk } from '../../load/talk.js';
import type { Scale } from '../../measure.js';
import { figure, type Table } from '../../report.js';
import type { NodesUnderTest } from '../../subjects/nodes.js';
import type { PostgresMeter } from '../../subjects/services.js';
import type { Subject } from '../../subjects/subject.js';

const CHATS = 16;
const TALK_BYTES = 102;
const TABLES = { chat: 'agent_chat', turn: 'agent_turn', message: 'agent_message', step: 'agent_step' };
type Kind = keyof typeof TABLES;
const KINDS = Object.keys(TABLES) as Kind[];
type Size = Awaited<ReturnType<PostgresMeter['sizeOf']>>;

/**
 * What is left on PostgreSQL's disk of turns, as they were written.
 *
 * @param alone a node without Redis, which nobody has used
 */
export async function rowSizes(nodes: NodesUnderTest, alone: Subject, scale: Scale): Promise<Table> {
  const turns = scale.isQuick ? 10 : 150;
  const database = await nodes.ownDatabase();
  const sizes = async (): Promise<ReadonlyMap<Kind, Size>> => {
    const found = new Map<Kind, Size>();
    for (const kind of KINDS) found.set(kind, await database.sizeOf(TABLES[kind]));
    return found;
  };
  const before = await sizes();
  // A page that is not full is nobody's: tables grow by many rows.
  await createChats(
    alone,
    Array.from({ length: 8 * turns }, (_, i) => `rows-empty-${i}`),
  );
  const talks = await many(CHATS, CHATS, (i) => Talk.begin(alone.port, 'turnstream', `rows-${i}`));
  await Promise.all(
    talks.map(async (talk) => {
      for (let i = 0; i < turns; i++) await talk.turn('steps');
    }),
  );
  for (const talk of talks) talk.close();
  const after = await sizes();
  await database.close();

  const per = (kind: Kind, of: 'bytes' | 'indexBytes'): number => {
    const [then, now] = [before.get(kind), after.get(kind)];
    return then && now ? (now[of] - then[of]) / (now.rows - then.rows) : Number.NaN;
  };
  const count = CHATS * turns;
  const counts = (kind: Kind): number => (after.get(kind)?.rows ?? 0) - (before.get(kind)?.rows ?? 0);
  const whole = (kind: Kind): number => per(kind, 'bytes') + per(kind, 'indexBytes');
  return {
    title: `${figure(count)} turns of a question, an answer of the same ${TALK_BYTES} bytes, in steps: bytes of a row`,
    columns: ['row', 'rows a turn', 'table', 'indexes', 'together'],
    rows: KINDS.map((kind) => [
      kind,
      figure(counts(kind) / count),
      figure(per(kind, 'bytes')),
      figure(per(kind, 'indexBytes')),
      figure(whole(kind)),
    ]),
    figures: {
      postgresBytesPerMessage: whole('message'),
      postgresBytesPerStep: whole('step'),
      postgresBytesPerTurnRow: whole('turn'),
      /** Of a question, an answer and the turn. */
      postgresBytesPerTurn: 2 * whole('message') + whole('turn'),
    },
  };
}
