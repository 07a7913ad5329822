import { isDeepStrictEqual } from 'node:util';
import { isEnded, type Message, type Result, type Turn } from '../../protocol/index.js';
import { httpHistory } from '../harness/consistent.js';
import type { As } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { until } from '../harness/until.js';
import { canonical, type AskedTurn, type KnownChat, type WrittenMessage } from './model.js';
import { storedForm, type Stored, type StoredChat } from './rows.js';
import { difference } from './watcher.js';
import { identityOf, type World } from './world.js';

/** What must hold once a round is quiet. Whatever does not is a fault of the world. */
export async function checkInvariants(world: World): Promise<void> {
  await world.settles('turns_active');
  await world.settles('unsaved_bytes');
  await world.settles('buffer_bytes');
  const stored = await allEnded(world);
  for (const chat of world.model.chats.values()) await checkChat(world, chat, stored);
  for (const watcher of world.watchers) for (const chat of watcher.watched.values()) world.leave(chat);
  checkStarts(world, stored);
  checkStops(world, stored);
  checkWritten(world, stored);
  checkSeen(world, stored);
  checkEdits(world, stored);
  await checkAbsence(world);
  checkOutput(world);
}

/** Every turn comes to its end. */
async function allEnded(world: World): Promise<Stored> {
  const read = () => world.topology.stored();
  const open = (stored: Stored) =>
    [...stored.turns.values()].filter(({ status, chatId }) => !isEnded(status) && !stored.chats.get(chatId)?.isDeleted);
  const isOver = async () => open(await read()).length === 0;
  await until(isOver, 'every turn ended', world.patienceMs).catch(async () =>
    world.fault(`turns that do not end: ${JSON.stringify(open(await read()))}`),
  );
  return read();
}

/** DAT-4: late snapshot = HTTP history = stored rows = every follower's view. */
async function checkChat(world: World, chat: KnownChat, stored: Stored): Promise<void> {
  const { chatId, userId } = chat;
  const row = stored.chats.get(chatId);
  const as = identityOf(userId);
  if (!row) {
    if (chat.isKnown) world.fault(`${chatId} was acknowledged and is not stored`);
    return;
  }
  if (chat.deletion === 'done' && !row.isDeleted) world.fault(`CMD-3: ${chatId} was deleted and is there`);
  for (const url of world.topology.urls) await checkAt(world, url, { chatId, as, row, stored });
}

/** What one of the servers says of a chat. */
async function checkAt(
  world: World,
  url: string,
  { chatId, as, row, stored }: { chatId: string; as: As; row: StoredChat; stored: Stored },
): Promise<void> {
  const late = new Person(url, as);
  await late.open();
  if (row.isDeleted) {
    const ack = await late.ask('chat:subscribe', { chatId });
    if (ack.ok || ack.error.code !== 'not_found')
      world.fault(`CMD-3: the deleted ${chatId} answers ${JSON.stringify(ack)}`);
    late.close();
    return;
  }
  const history = await httpHistory(url, chatId, as);
  const wrong = differs(history.map(storedForm), row.messages);
  if (wrong) world.fault(`DAT-4: history and rows of ${chatId} differ ${wrong}`);
  const view = await late.follow(chatId);
  const seen = difference(view.messages, above(history, view.view?.hasMore ? view.messages : []));
  if (seen) world.fault(`DAT-4: snapshot and history of ${chatId} differ ${seen}`);
  const turns = await allTurns(late, chatId);
  for (const turn of turns) checkTurn(world, turn, stored);
  await checkFollowers(world, chatId, late, history, turns);
  late.close();
}

async function checkFollowers(
  world: World,
  chatId: string,
  late: Person,
  history: readonly Message[],
  turns: readonly Turn[],
): Promise<void> {
  const frontier = late.chats.get(chatId)?.position;
  for (const [index, watcher] of world.watchers.entries()) {
    const chat = watcher.watched.get(chatId);
    if (!chat?.isFollowing || !chat.view) continue;
    await until(() => isDeepStrictEqual(chat.position, frontier), 'the frontier', world.patienceMs).catch(() =>
      world.fault(
        `person ${index} is at ${JSON.stringify(chat.position)} of ${chatId}, the chat at ${JSON.stringify(frontier)}`,
      ),
    );
    if (chat.view.hasMore && chat.messages.length === 0) continue;
    const wrong = difference(chat.messages, above(history, chat.view.hasMore ? chat.messages : []));
    if (wrong) world.fault(`DAT-4: what person ${index} saw and the history of ${chatId} differ ${wrong}`);
    for (const held of chat.view.turns.values()) {
      const turn = turns.find(({ requestId }) => requestId === held.requestId);
      if (!turn) world.fault(`person ${index} holds a turn of ${chatId} that is not listed: ${held.requestId}`);
      else if (turn.status !== held.status || turn.attempt !== held.attempt || turn.stopReason !== held.stopReason) {
        world.fault(`TRN-6: person ${index} holds ${JSON.stringify(held)}, listed is ${JSON.stringify(turn)}`);
      }
    }
  }
}

/** Of the history, what a view that begins with these messages holds; all of it for []. */
const above = (history: readonly Message[], held: readonly Message[]): readonly Message[] =>
  history.filter(({ sequence }) => sequence >= (held[0]?.sequence ?? 0));

async function allTurns(person: Person, chatId: string): Promise<Turn[]> {
  const all: Turn[] = [];
  for (;;) {
    const before = all.at(-1)?.requestId;
    const page = await person.do<Result<'turn:list'>>('turn:list', {
      chatId,
      limit: 200,
      ...(before ? { before } : {}),
    });
    all.push(...page.turns);
    if (!page.hasMore) return all;
  }
}

function checkTurn(world: World, turn: Turn, stored: Stored): void {
  const row = stored.turns.get(turn.requestId);
  if (row?.status !== turn.status || row.attempt !== turn.attempt || row.stopReason !== turn.stopReason) {
    world.fault(`turn ${JSON.stringify(turn)} is stored as ${JSON.stringify(row)}`);
  }
}

function differs(a: readonly object[], b: readonly object[]): string | null {
  const index = Array.from({ length: Math.max(a.length, b.length) }, (_, at) => at).find(
    (at) => canonical(a[at]) !== canonical(b[at]),
  );
  return index === undefined
    ? null
    : `at ${index} of ${a.length}/${b.length}: ${canonical(a[index])} — ${canonical(b[index])}`;
}

/** TRN-1, TRN-2: what was accepted is there once, what was refused is not there at all. */
function checkStarts(world: World, stored: Stored): void {
  for (const asked of world.model.turns.values()) {
    const { requestId, chatId, inputs, outcome, isAdrift } = asked;
    const chat = stored.chats.get(chatId);
    const row = stored.turns.get(requestId);
    if (outcome === 'refused' && !isAdrift && row) world.fault(`TRN-2: ${requestId} was refused and is stored`);
    if (outcome !== 'accepted' || chat?.isDeleted) continue;
    if (!row) {
      world.fault(`TRN-2: ${requestId} was accepted and is not stored`);
      continue;
    }
    const mine = chat?.messages.filter((message) => message.requestId === requestId && message.role === 'user') ?? [];
    const mayMiss = [...world.model.mayBeGone].some((messageId) => chat?.deletedIds.has(messageId));
    if (mine.length > inputs.length || (mine.length < inputs.length && !mayMiss)) {
      world.fault(`TRN-1: ${requestId} has ${mine.length} input messages, sent were ${inputs.length}`);
    }
    if (asked.regenerates === null) checkEcho(world, asked, chat, row.status);
  }
}

/** A completed echo says each input once. */
function checkEcho(
  { model, fault }: World,
  { requestId, inputs }: AskedTurn,
  chat: StoredChat | undefined,
  status: string,
): void {
  if (status !== 'completed' || !chat) return;
  const answers = chat.messages.filter((message) => message.requestId === requestId && message.role === 'assistant');
  const isEcho = answers.length > 0 && answers.every(({ assistantId }) => assistantId === 'echo');
  // What was deleted leaves no trace of how often it stood there.
  const isTouched = model.mayBeGone.size > 0 || answers.some(({ messageId }) => model.edits.has(messageId));
  if (isEcho && !isTouched && canonical(answers.map(contentOf)) !== canonical(inputs)) {
    fault(`TRN-4: the echo of ${requestId} is ${canonical(answers.map(contentOf))}, asked was ${canonical(inputs)}`);
  }
}

/** LIF-1: whatever ran when the server was told to stop has ended before it went. */
function checkStops({ model, killed, fault }: World, { turns }: Stored): void {
  for (const { requestId, attempt, life } of model.runs) {
    const turn = turns.get(requestId);
    if (turn?.attempt === attempt && turn.stopReason === 'crashed' && !killed.has(life))
      fault(`LIF-1: attempt ${attempt} of ${requestId} began in life ${life}, which no crash ended, and is crashed`);
  }
}

/** LIF-2, TRN-4, TRN-6: what agents wrote stands as they wrote it: all that was acknowledged, or after a kill all that was seen. */
function checkWritten(world: World, stored: Stored): void {
  for (const message of world.model.written.values()) {
    const { chatId, requestId } = message.run;
    const chat = stored.chats.get(chatId);
    if (!chat || chat.isDeleted) continue;
    const row = chat.messages.find(({ messageId }) => messageId === message.messageId);
    const least = leastOf(world, message);
    if (!row) {
      if (least >= 0 && !mayBeGone(world, message, stored))
        world.fault(`LIF-2: ${message.messageId} of ${requestId} is lost: ${canonical(message.states[least]?.raw)}`);
      continue;
    }
    if (world.model.gone.has(message.messageId)) world.fault(`CMD-4: ${message.messageId} was deleted and is there`);
    if (row.role === 'assistant' && standsTwice(world, message, stored))
      world.fault(
        `TRN-9: ${message.messageId} of attempt ${message.run.attempt} of ${requestId} stands beside what has replaced it`,
      );
    if (!world.model.edits.has(message.messageId)) checkState(world, message, row.props, least);
  }
}

function checkState(world: World, message: WrittenMessage, props: Message['props'], least: number): void {
  const closed = message.find(props, { isClosed: true, from: 'last' });
  // Half a character that waited for its other half was seen by nobody, and dies with the server.
  const is = world.killed.has(message.run.life)
    ? Math.max(closed, message.find(props, { isClosed: false, from: 'last' }))
    : closed;
  // The close of a call is acknowledged before anybody has seen what it flushed: only the root's waits for write 2.
  const isWhole = message.run.isComplete && (message.run.isRoot || !world.killed.has(message.run.life));
  const must = isWhole ? message.states.length - 1 : least;
  if (is >= 0 && is >= must) return;
  const rule = is < 0 ? 'TRN-4' : 'LIF-2';
  world.fault(
    `${rule}: ${message.messageId} of ${message.run.requestId} is ${canonical(props)}, written was ${canonical(message.whole)} (state ${is}, at least ${must}: acknowledged ${message.acknowledged}, seen ${message.seen}; life ${message.run.life}, attempt ${message.run.attempt})`,
  );
}

function leastOf({ killed }: World, message: WrittenMessage): number {
  if (message.run.isExposed) return message.seenSafely;
  return killed.has(message.run.life) ? message.seen : Math.max(message.seen, message.acknowledged);
}

/** Deleted by somebody, or replaced by a later attempt or a turn that answers anew. */
function mayBeGone({ model }: World, { messageId, run }: WrittenMessage, stored: Stored): boolean {
  const turn = stored.turns.get(run.requestId);
  return (
    model.mayBeGone.has(messageId) ||
    (turn !== undefined && turn.attempt > run.attempt) ||
    [...model.turns.values()].some(({ regenerates }) => regenerates === run.requestId)
  );
}

/**
 * A turn without steps that completed in a later attempt has replaced what the earlier ones had answered (TRN-9); so has
 * a completed turn that answered it anew (TRN-11). What an agent had said for a person is input, and stands.
 */
function standsTwice({ model }: World, { run }: WrittenMessage, stored: Stored): boolean {
  const { turns } = stored;
  const turn = turns.get(run.requestId);
  const isReplacedWhole = turn?.status === 'completed' && turn.steps === 0 && turn.attempt > run.attempt;
  // A turn that was resumed may have been so after it was answered anew.
  const isAnsweredAnew =
    turn?.attempt === 1 &&
    [...model.turns.values()].some(
      ({ requestId, regenerates }) => regenerates === run.requestId && turns.get(requestId)?.status === 'completed',
    );
  return isReplacedWhole || isAnsweredAnew;
}

/** Inputs and echoes that somebody saw stand as they were seen, or have grown since. Inputs are stored before they are seen. */
function checkSeen(world: World, stored: Stored): void {
  const { model } = world;
  const answers = model.seenSafely ?? model.seenOthers;
  const inputs = [...model.seenOthers.values()].filter(({ role }) => role === 'user');
  for (const seen of [...inputs, ...[...answers.values()].filter(({ role }) => role !== 'user')]) {
    const { chatId, messageId } = seen;
    const chat = stored.chats.get(chatId);
    if (!chat || chat.isDeleted || model.edits.has(messageId) || model.mayBeGone.has(messageId)) continue;
    const row = chat.messages.find((message) => message.messageId === messageId);
    if (row && !contentOf(row).startsWith(contentOf(seen))) {
      world.fault(`LIF-2: ${messageId} was seen as ${canonical(seen.props)} and is ${canonical(row.props)}`);
    } else if (!row && (seen.role === 'user' || !wasReplaced(world, seen.requestId, stored))) {
      world.fault(`LIF-2: ${messageId} was seen and is lost: ${canonical(seen)}`);
    }
  }
}

/** CMD-4: the last edit of a message stands, where one was acknowledged. */
function checkEdits({ model, fault }: Pick<World, 'model' | 'fault'>, stored: Stored): void {
  const all = [...stored.chats.values()].flatMap(({ messages }) => messages);
  for (const messageId of model.edited) {
    const row = all.find((message) => message.messageId === messageId);
    if (row && !model.edits.get(messageId)?.includes(contentOf(row)))
      fault(`CMD-4: the edit of ${messageId} is lost: ${canonical(row.props)}`);
  }
}

const contentOf = ({ props }: Pick<Message, 'props'>): string =>
  typeof props['content'] === 'string' ? props['content'] : '';

/** Whether a later attempt, or a turn that answers anew, may have replaced a turn's answer. */
const wasReplaced = ({ model }: World, requestId: string | null, stored: Stored): boolean =>
  (stored.turns.get(requestId ?? '')?.attempt ?? 1) > 1 ||
  [...model.turns.values()].some(({ regenerates }) => regenerates === requestId);

/** LIF-3: once all have left, nothing of them is left. */
async function checkAbsence(world: World): Promise<void> {
  for (const peer of [...world.watchers, ...world.players]) peer.close();
  for (const name of ['connections', 'subscriptions', 'turns_active', 'buffer_bytes', 'outbox_bytes', 'unsaved_bytes'])
    await world.settles(name);
}

function checkOutput(world: World): void {
  const { output, usualLines } = world.topology;
  for (const line of output.split('\n')) {
    if (line === '' || /^(Turnstream listening|turnstream: stopping)/.test(line)) continue;
    // Warnings, what is usual, and the audit.
    if (/^\{"level":[347]0/.test(line)) continue;
    if (!usualLines.some((usual) => usual.test(line))) world.fault(`the server said: ${line.slice(0, 2000)}`);
  }
}
