import type { Message } from '../../protocol/index.js';
import { partsOf, prefixed } from './content.js';
import type { SquadMessage } from './conversation-message.js';
import { Exchanges } from './exchanges.js';
import { foreignOf, heardBy, type ForeignMessage } from './foreign.js';
import { rowOf, type SquadRow } from './row.js';

export interface Agent {
  readonly agentId: string;
  readonly assistantId: string;
}

/**
 * One agent's conversation in a session. What others said stands where it was said, joined to a neighbour of its role, so
 * that roles still alternate; it goes with what is trimmed behind it.
 */
export function conversationOf(messages: readonly Message[], { agentId, assistantId }: Agent): SquadMessage[] {
  const exchanges = new Exchanges();
  for (const row of rowsOf(messages)) if (row.agentId === agentId) exchanges.add(row);
  const isHeard = heardBy(assistantId, messages);
  const foreign = foreignOf(messages).filter(
    (message) => isHeard(message) && message.sequence > exchanges.trimmedThrough,
  );
  return joined(laidIn(exchanges.standing, foreign));
}

/** What all agents of a session, and everybody else in its chat, said and heard, in the order of saving. */
export function sessionOf(messages: readonly Message[]): SquadMessage[] {
  const byAgent = new Map<string, Exchanges>();
  for (const row of rowsOf(messages)) {
    const exchanges = byAgent.get(row.agentId) ?? new Exchanges();
    exchanges.add(row);
    byAgent.set(row.agentId, exchanges);
  }
  const shown = [...byAgent].flatMap(([agentId, { standing, apart }]) =>
    [...standing, ...apart].map(({ sequence, message }) => ({ sequence, message: named(agentId, message) })),
  );
  const others = foreignOf(messages).map(({ sequence, assistantId, message }) => ({
    sequence,
    message: assistantId === null ? message : named(assistantId, message),
  }));
  return [...shown, ...others].sort((a, b) => a.sequence - b.sequence).map(({ message }) => message);
}

const named = (name: string, message: SquadMessage): SquadMessage =>
  message.role === 'assistant' ? { ...message, content: prefixed(name, message.content) } : message;

const rowsOf = (messages: readonly Message[]): SquadRow[] => messages.flatMap((message) => rowOf(message) ?? []);

interface Laid {
  readonly isForeign: boolean;
  readonly message: SquadMessage;
}

/** Both in one row. The agent's own keep their order, in which a question may stand behind one that was saved later. */
function laidIn(standing: readonly SquadRow[], foreign: readonly ForeignMessage[]): Laid[] {
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
