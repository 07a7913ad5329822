import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message, Step } from '../../protocol/index.js';
import type { StepRecord, TurnWrite } from '../../server/ports/store.js';
import { builtStore } from './built.js';
import { answerCommands, subjectOptions } from './child.js';
import { ANSWER, rowChat, rowMessage, rowTurn } from './seed.js';

/** The store alone, without a server before it: what the same turns cost when they are written in other ways. */

const { synchronous } = subjectOptions<{ synchronous: 'NORMAL' | 'FULL' }>();
const { openPrismaStore, clock, ids } = await builtStore();
const directory = mkdtempSync(join(tmpdir(), 'turnstream-bench-'));
const store = await openPrismaStore({ url: `file:${join(directory, 'store.db')}`, clock, ids, synchronous });

const AT = '2026-01-01T00:00:00.000Z';
const CHAT = 'chat';
const MESSAGES = 6;
const STEPS = 5;
let sequence = 0;
await store.createChat(rowChat(CHAT));

/** One turn: a question, six messages, five steps. */
interface TurnRows {
  readonly requestId: string;
  readonly question: Message;
  readonly answers: readonly Message[];
  readonly steps: readonly StepRecord[];
}

function rows(): TurnRows {
  const requestId = ids.id();
  const question: Message = { ...rowMessage(CHAT, requestId, ids.id(), ++sequence), role: 'user' };
  const answers = Array.from({ length: MESSAGES }, () => rowMessage(CHAT, requestId, ids.id(), ++sequence));
  const steps = Array.from({ length: STEPS }, (_, i) => ({ beginOrder: i + 1, step: step(requestId, i + 1) }));
  return { requestId, question, answers, steps };
}

const step = (requestId: string, order: number): Step => ({
  stepId: ids.id(),
  chatId: CHAT,
  requestId,
  assistantId: 'echo',
  stackId: `${requestId}-root`,
  stackParentId: null,
  stackDepth: 0,
  type: 'llm',
  status: 'completed',
  input: { prompt: ANSWER },
  output: { text: ANSWER },
  spaceSnapshot: {},
  error: null,
  sequence: order,
  metadata: null,
  createdAt: AT,
  updatedAt: AT,
});

const begin = ({ requestId, question }: TurnRows): TurnWrite => ({
  kind: 'begin',
  record: rowTurn(CHAT, requestId, 'queued'),
  messages: [question],
  newChat: null,
  at: AT,
});

const end = ({ requestId }: TurnRows, messages: readonly Message[], steps: readonly StepRecord[]): TurnWrite => ({
  kind: 'end',
  record: rowTurn(CHAT, requestId, 'completed'),
  messages,
  deletedMessageIds: [],
  steps,
  lastSequence: sequence,
  at: AT,
});

answerCommands(
  0,
  {
    /** Write 1 and write 2 of so many turns at once in one transaction each. */
    grouped: async ({ turns, group }: { turns: number; group: number }) => {
      for (let done = 0; done < turns; done += group) {
        const together = Array.from({ length: Math.min(group, turns - done) }, rows);
        await store.write(together.map(begin));
        await store.write(together.map((turn) => end(turn, turn.answers, turn.steps)));
      }
    },

    /** Every message and every step when it comes, and the end of the turn: 13 transactions. */
    single: async ({ turns }: { turns: number }) => {
      for (let done = 0; done < turns; done++) {
        const turn = rows();
        await store.write([begin(turn)]);
        for (const [i, message] of turn.answers.entries()) {
          await store.saveMessages(CHAT, [message]);
          const record = turn.steps[i];
          if (record) await store.saveSteps([record]);
        }
        await store.write([end(turn, [], [])]);
      }
    },
  },
  () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
);
