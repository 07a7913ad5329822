import type { Ack, AgentResult, ErrorCode, Result } from '../../protocol/index.js';
import type { Peer } from '../harness/peer.js';
import { ask } from './ask.js';
import { lookAtPage, peek } from './looks.js';
import type { AskedTurn, KnownChat } from './model.js';
import { pause } from './pause.js';
import type { AgentDeed, Moment, PersonDeed } from './plan.js';
import type { Player } from './player.js';
import { chosen } from './random.js';
import type { Watcher } from './watcher.js';
import type { World } from './world.js';

/** Refusals of a node that may not speak for the chat's owner. */
const AWAY = new Set<ErrorCode>(['storage_unavailable', 'draining']);
const AWAY_MS = 300;

/** What people and agents do in a round, as the plan says, with what they find. */

export class Deeds {
  #count = 0;

  constructor(private readonly world: World) {}

  /** Does one thing of the plan; resolves when its answers are there. */
  async perform({ person, agent, chat: chatFraction, which, deed }: Moment): Promise<void> {
    const { world } = this;
    const watcher = world.watchers[person] as Watcher;
    const player = world.players[agent] as Player;
    const chat = chosen([...world.model.chats.values()], chatFraction ** 2) as KnownChat;
    world.trace(
      `${deed.do} by ${deed.do.startsWith('agent') || deed.do === 'open' ? player.agentId : `person ${person}`} in ${chat.chatId}: ${JSON.stringify(deed)}`,
    );
    switch (deed.do) {
      case 'befall':
        return world.topology.befall(deed.misfortune);
      case 'agentDrop':
        return world.bounce(player, deed.awayMs);
      case 'agentReplace':
        return world.replace(player);
      case 'agentFreeze':
        return world.freeze(player, deed.ms);
      case 'open':
        return this.#open(player, chat, deed);
      default:
        return this.#person(watcher, chat, which, deed);
    }
  }

  #person(watcher: Watcher, chat: KnownChat, which: number, deed: PersonDeed): Promise<void> {
    switch (deed.do) {
      case 'start':
      case 'regenerate':
        return this.#start(watcher, chat, deed);
      case 'stop':
        return this.#tell(watcher, 'turn:stop', { chatId: chat.chatId, ...this.#turnOf(chat, which, deed.isNamed) });
      case 'resume':
        return this.#resume(watcher, chat, which, deed);
      case 'rename':
        return this.#tell(this.#owner(chat, watcher), 'chat:update', { chatId: chat.chatId, title: deed.title });
      case 'edit':
        return this.#edit(watcher, chat, which, deed.content);
      case 'delete':
        return this.#delete(watcher, chat, which, deed.count);
      case 'deleteChat':
        return this.#deleteChat(watcher, chat);
      case 'follow':
        return this.#quietly(watcher, () =>
          watcher.watch(chat.chatId, { messageLimit: deed.messageLimit, fresh: deed.isFresh }),
        );
      case 'unfollow':
        return this.#quietly(watcher, () => watcher.unwatch(chat.chatId));
      case 'bounce':
        return this.world.bounce(watcher, deed.awayMs);
      case 'page':
        return lookAtPage(this.world, watcher, chat, deed);
      case 'peek':
        return peek(this.world, watcher, chat, deed.messageLimit);
      case 'type':
        return this.#tell(watcher, 'typing', { chatId: chat.chatId, typing: deed.typing });
      case 'freeze':
        return this.world.freeze(watcher, deed.ms);
    }
  }

  // Turns

  async #start(
    watcher: Watcher,
    chat: KnownChat,
    deed: Extract<PersonDeed, { do: 'start' | 'regenerate' }>,
  ): Promise<void> {
    const requestId = `request-${++this.#count}`;
    const known =
      deed.do === 'start' && deed.inNewChat
        ? this.world.knowChat(`new-${this.#count}`, watcher.as.userId as string)
        : chat;
    const regenerates =
      deed.do === 'regenerate'
        ? ([...this.world.model.turns.values()].findLast((turn) => turn.chatId === chat.chatId)?.requestId ?? 'none')
        : null;
    const inputs = deed.do === 'start' ? deed.inputs : [];
    const asked: AskedTurn = {
      requestId,
      chatId: known.chatId,
      inputs,
      regenerates,
      outcome: 'unknown',
      isAdrift: false,
    };
    this.world.model.turns.set(requestId, asked);
    const body = {
      requestId,
      chatId: known.chatId,
      onBusy: deed.onBusy,
      ...(deed.do === 'start'
        ? {
            input: inputs.length === 1 ? inputs[0] : inputs,
            assistantId: deed.assistantId,
            createChat: deed.inNewChat,
            metadata: { delayMs: 3 },
          }
        : { regenerate: regenerates }),
    };
    const others = this.world.watchers.filter(({ as }) => as.userId === watcher.as.userId);
    const senders = deed.do === 'start' && deed.isTwice ? others : [watcher];
    const refusals = await Promise.all(senders.map((sender) => this.#insist(sender, asked, body)));
    if (asked.outcome !== 'accepted') return;
    known.isKnown = true;
    // A chat that is busy or full may be free when the second one comes; an id is not taken by the start itself.
    if (regenerates === null && refusals.includes('conflict') && known.deletion === 'none')
      this.world.fault(`TRN-1: ${requestId} was accepted and, sent again, a conflict`);
  }

  /** Sends a start, again after each loss, until it has its answer (TRN-1). */
  async #insist(sender: Watcher, asked: AskedTurn, body: object): Promise<ErrorCode | null> {
    for (let tries = 0; tries < 30; tries++) {
      const ack = (await this.#ask(sender, 'turn:start', body)) as Ack<Result<'turn:start'>> | null;
      if (!ack) {
        asked.isAdrift = this.world.isSpread;
        await this.world.back(sender);
        continue;
      }
      if (ack.ok) {
        if (
          asked.regenerates === null &&
          ack.data.messages.length !== asked.inputs.length &&
          this.world.model.mayBeGone.size === 0
        ) {
          this.world.fault(
            `TRN-1: ${asked.requestId} was answered with ${ack.data.messages.length} messages, sent were ${asked.inputs.length}`,
          );
        }
        asked.outcome = 'accepted';
        return null;
      }
      if (this.world.isSpread && AWAY.has(ack.error.code)) {
        // Nobody knows whether it was done: a repetition under its id tells.
        asked.isAdrift = true;
        await pause(AWAY_MS);
        continue;
      }
      // A chat that was deleted says nothing of the turns that it had.
      const isCertain = ack.error.code !== 'not_found' || this.world.model.chats.get(asked.chatId)?.deletion === 'none';
      if (asked.outcome !== 'accepted' && isCertain) asked.outcome = 'refused';
      return ack.error.code;
    }
    return null;
  }

  async #resume(
    watcher: Watcher,
    chat: KnownChat,
    which: number,
    deed: Extract<PersonDeed, { do: 'resume' }>,
  ): Promise<void> {
    const args = {
      chatId: chat.chatId,
      ...this.#turnOf(chat, which, deed.isNamed),
      ...(which < 0.3 ? { attempt: 2 } : {}),
    };
    const times = deed.isTwice ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => this.#tell(watcher, 'turn:resume', args)));
  }

  #turnOf(chat: KnownChat, which: number, isNamed: boolean): { requestId?: string } {
    const turns = [...this.world.model.turns.values()].filter(({ chatId }) => chatId === chat.chatId).slice(-6);
    const turn = isNamed ? chosen(turns, which) : undefined;
    return turn ? { requestId: turn.requestId } : {};
  }

  async #open(player: Player, chat: KnownChat, deed: Extract<AgentDeed, { do: 'open' }>): Promise<void> {
    const requestId = `opened-${++this.#count}`;
    const known = deed.inNewChat ? this.world.knowChat(`new-${this.#count}`, 'ann') : chat;
    const assistantId = player.agentId === 'agent-2' ? 'beta' : 'alpha';
    const args = {
      requestId,
      chatId: known.chatId,
      assistantId,
      ...(deed.inNewChat ? { createChat: { createdBy: 'ann', teamId: 'team', share: 'team' } } : {}),
    };
    const once = async (): Promise<void> => {
      for (let tries = 0; tries < 10; tries++) {
        const ack = await this.#ask(player, 'turn:open', args);
        if (ack?.ok) {
          known.isKnown = true;
          player.opened(known.chatId, ack.data as AgentResult<'turn:open'>);
        }
        if (ack) return;
        await this.world.back(player);
      }
    };
    await Promise.all([once(), ...(deed.isTwice ? [once()] : [])]);
  }

  // Messages

  async #edit(watcher: Watcher, chat: KnownChat, which: number, content: string): Promise<void> {
    const owner = this.#owner(chat, watcher);
    const message = chosen(owner.watched.get(chat.chatId)?.messages ?? [], which);
    if (!message) return;
    const { model } = this.world;
    const { messageId } = message;
    model.edits.set(messageId, [...(model.edits.get(messageId) ?? []), content]);
    const ack = await this.#ask(owner, 'message:update', { messageId, props: { content } });
    if (ack?.ok && !model.isExposed) model.edited.add(messageId);
  }

  async #delete(watcher: Watcher, chat: KnownChat, which: number, count: number): Promise<void> {
    const owner = this.#owner(chat, watcher);
    const { messages = [] } = owner.watched.get(chat.chatId) ?? {};
    const from = Math.floor(which * messages.length);
    const messageIds = messages.slice(from, from + count).map(({ messageId }) => messageId);
    if (messageIds.length === 0) return;
    const { model } = this.world;
    for (const messageId of messageIds) model.mayBeGone.add(messageId);
    const ack = (await this.#ask(owner, 'message:delete', { chatId: chat.chatId, messageIds })) as Ack<
      Result<'message:delete'>
    > | null;
    if (ack?.ok && !model.isExposed) for (const messageId of ack.data.messageIds) model.gone.add(messageId);
  }

  async #deleteChat(watcher: Watcher, chat: KnownChat): Promise<void> {
    if (chat.deletion === 'none') chat.deletion = 'asked';
    const ack = await this.#ask(this.#owner(chat, watcher), 'chat:delete', { chatId: chat.chatId });
    if (ack?.ok) chat.deletion = 'done';
  }

  // Saying

  /** Mostly the one who may change the chat; at times somebody else, who is refused. */
  #owner(chat: KnownChat, otherwise: Watcher): Watcher {
    return (
      this.world.watchers.find(({ as }) => as.userId === chat.userId && (this.#count + chat.chatId.length) % 5 > 0) ??
      otherwise
    );
  }

  async #tell(watcher: Watcher, command: string, args: object): Promise<void> {
    await this.#ask(watcher, command, args);
  }

  async #quietly(watcher: Watcher, work: () => Promise<unknown>): Promise<void> {
    if (watcher.socket.connected) await work().catch(() => undefined);
  }

  #ask(peer: Peer, command: string, args: object): Promise<Ack<unknown> | null> {
    return ask(this.world, peer, command, args);
  }
}
