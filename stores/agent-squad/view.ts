import { partsOf, prefixed } from './content.js';
import type { SquadMessage } from './conversation-message.js';
import { Exchanges } from './exchanges.js';
import { heardBy, type ForeignMessage } from './foreign.js';
import type { SquadRow } from './row.js';
import type { Transcript } from './transcript.js';

export interface Agent {
  readonly agentId: string;
  readonly assistantId: string;
}

/**
 * One agent's conversation in a session. What others said stands where it was said, joined to a neighbour of its role, so
 * that roles still alternate; it goes with what is trimmed behind it.
 */
export function conversationOf({ rows, foreign }: Transcript, { agentId, assistantId }: Agent): SquadMessage[] {
  const exchanges = new Exchanges();
  for (const row of rows) if (row.agentId === agentId) exchanges.add(row);
  const isHeard = heardBy(assistantId, foreign);
  const heard = foreign.filter((other) => other.sequence > exchanges.trimmedThrough && isHeard(other));
  return joined(laidIn(exchanges.standing, heard.flatMap(worded)));
}

/** What all agents of a session, and everybody else in its chat, said and heard, in the order of saving. */
export function sessionOf({ rows, foreign }: Transcript): SquadMessage[] {
  const byAgent = new Map<string, Exchanges>();
  for (const row of rows) {
    const exchanges = byAgent.get(row.agentId) ?? new Exchanges();
    exchanges.add(row);
    byAgent.set(row.agentId, exchanges);
  }
  const shown = [...byAgent].flatMap(([agentId, { standing, apart }]) =>
    [...standing, ...apart].map(({ sequence, message }) => ({ sequence, message: named(agentId, message) })),
  );
  const others = foreign.flatMap(worded).map(({ sequence, assistantId, message }) => ({
    sequence,
    message: assistantId === null ? message : named(assistantId, message),
  }));
  return [...shown, ...others].sort((a, b) => a.sequence - b.sequence).map(({ message }) => message);
}

const named = (name: string, message: SquadMessage): SquadMessage =>
  message.role === 'assistant' ? { ...message, content: prefixed(name, message.content) } : message;

/** One that says something in words. */
type Worded = ForeignMessage & { readonly message: SquadMessage };

const worded = (foreign: ForeignMessage): Worded[] => {
  const { message } = foreign;
  return message ? [{ ...foreign, message }] : [];
};

interface Laid {
  readonly isForeign: boolean;
  readonly message: SquadMessage;
}

/** Both in one row. The agent's own keep their order, in which a question may stand behind one that was saved later. */
function laidIn(standing: readonly SquadRow[], foreign: readonly Worded[]): Laid[] {
  const laid: Laid[] = [];
  let next = 0;
  const layForeign = (before: number): void => {
    for (let other = foreign[next]; other && other.sequence < before; other = foreign[++next])
      laid.push({ isForeign: true, message: other.message });
  };
  for (const { sequence, message } of standing) {
    layForeign(sequence);
    laid.push({ isForeign: false, message });
  }
  layForeign(Infinity);
  return laid;
}

function joined(laid: readonly Laid[]): SquadMessage[] {
  const result: Laid[] = [];
  for (const { isForeign, message } of laid) {
    const last = result.at(-1);
    if (last?.message.role === message.role && (last.isForeign || isForeign)) {
      const content = [...partsOf(last.message.content), ...partsOf(message.content)];
      result[result.length - 1] = {
        isForeign: last.isForeign && isForeign,
        message: { ...last.message, ...message, content },
      };
    } else result.push({ isForeign, message });
  }
  return result.map(({ message }) => message);
}
