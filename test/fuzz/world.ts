import type { Message } from '../../protocol/index.js';
import type { As, Peer } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { Model, type KnownChat } from './model.js';
import { pause } from './pause.js';
import { AGENTS, CHATS, PERSONS, type Plan } from './plan.js';
import { Player, type Stage } from './player.js';
import type { Ground, Topology } from './topology.js';
import { Watcher, type WatchedChat } from './watcher.js';

const TRACE_KEPT = 120;
const REACH_MS = 10_000;
/** Whoever was cut off is told of it in a later turn of the loop. */
const TOLD_MS = 50;
const USERS = ['ann', 'bob'];

export const identityOf = (userId: string): As => ({ userId, teamId: 'team' });

/** Those who are in a round: around a server, or several. */
export class World implements Stage, Ground {
  readonly model = new Model();
  readonly watchers: Watcher[] = [];
  readonly players: Player[] = [];
  /** What did not fit, the first first. */
  readonly faults: string[] = [];
  /** Lives of the server, or its nodes, in which something may have died without a word. */
  readonly killed = new Set<number>();
  life = 0;
  isFinishing = false;
  readonly seed: number;
  readonly #began = performance.now();
  readonly #trace: string[] = [];
  readonly #frozen = new Map<object, () => void>();
  /** Peers that are away, with what resolves when they are back. */
  readonly #away = new Map<Peer, Promise<void>>();
  #serial = 0;

  constructor(
    readonly plan: Plan,
    readonly topology: Topology,
  ) {
    this.seed = plan.seed;
  }

  /** Where whoever connects does so. */
  get url(): string {
    return this.topology.url;
  }

  get isSpread(): boolean {
    return this.topology.isSpread;
  }

  get patienceMs(): number {
    return this.topology.patienceMs;
  }

  async begin(): Promise<void> {
    await this.topology.begin(this);
    for (let index = 0; index < PERSONS; index++) {
      const userId = USERS[index % USERS.length] as string;
      const needs = {
        answerMs: this.patienceMs * 1.5,
        // Of inputs the contract allows it (section 5); one server is never so slow.
        mayBeLate: ({ role }: Message) => this.isSpread && role === 'user',
        mayMove: this.isSpread && this.plan.isRough,
        mayGoBack: () => this.model.seenSafely !== null,
        fault: (what: string) => this.fault(`person ${index}: ${what}`),
        leaving: (chat: WatchedChat) => this.leave(chat),
      };
      this.watchers.push(await new Watcher(this.url, identityOf(userId), needs).open());
    }
    const serves = [['alpha'], ['alpha', 'beta'], ['beta']];
    for (let index = 0; index < AGENTS; index++) {
      const player = new Player(
        this.url,
        `agent-${index}`,
        serves[index % serves.length] as string[],
        [2, 3, 1][index % 3] as number,
        this,
      );
      this.players.push(player);
      await player.join();
    }
    for (let index = 0; index < CHATS; index++) {
      const owner = this.watchers[index % this.watchers.length] as Watcher;
      const chatId = `chat-${index}`;
      this.knowChat(chatId, owner.as.userId as string).isKnown = true;
      await owner.do('chat:create', { chatId, assistantId: 'alpha', share: 'team' });
      for (const watcher of this.watchers) await watcher.watch(chatId);
    }
  }

  knowChat(chatId: string, userId: string): KnownChat {
    const chat: KnownChat = this.model.chats.get(chatId) ?? { chatId, userId, isKnown: false, deletion: 'none' };
    this.model.chats.set(chatId, chat);
    return chat;
  }

  /** What a view shows, and what it was told to be gone, is known from now on. */
  leave(chat: WatchedChat): void {
    this.model.saw(chat.messages);
    for (const messageId of chat.deleted) this.model.mayBeGone.add(messageId);
  }

  // Saying what happens

  trace(line: string): void {
    if (process.env['FUZZ_TRACE']) console.log(line);
    this.#trace.push(`${(performance.now() - this.#began).toFixed(0).padStart(6)} ${line}`);
    if (this.#trace.length > TRACE_KEPT) this.#trace.shift();
  }

  readonly fault = (what: string): void => {
    this.trace(`FAULT ${what}`);
    this.faults.push(what);
  };

  get lastOperations(): string {
    return this.#trace.join('\n');
  }

  nextSerial(): number {
    return ++this.#serial;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.isFinishing ? Math.min(ms, 5) : ms));
  }

  // Coming and going

  /** Resolves when the peer is connected, and the server is up. */
  async back(peer: Peer): Promise<void> {
    // Whoever was cut off is told of it in a later turn of the loop.
    await this.pause(2);
    for (;;) {
      await this.topology.ready();
      await this.#away.get(peer);
      if (peer.socket?.connected) return;
      await this.#return(peer);
    }
  }

  /** Cuts a peer off; it comes back after a while. */
  async bounce(peer: Peer, awayMs: number): Promise<void> {
    if (this.#away.has(peer) || !peer.socket.connected) return;
    this.thaw(peer);
    peer.drop();
    await this.pause(awayMs);
    await this.#return(peer);
  }

  /** A second connection of an agent attaches under its name. */
  async replace(player: Player): Promise<void> {
    if (!this.#away.has(player) && player.socket.connected) await this.#return(player, () => player.replace());
  }

  /** Connects a peer again, as often as it takes: the server may die meanwhile. */
  #return(peer: Peer, first?: () => Promise<void>): Promise<void> {
    const returning = this.#away.get(peer) ?? this.#reconnect(peer, first).finally(() => this.#away.delete(peer));
    this.#away.set(peer, returning);
    return returning;
  }

  async #reconnect(peer: Peer, first?: () => Promise<void>): Promise<void> {
    const again = () => (peer instanceof Player ? peer.join() : this.#rewatch(peer as Watcher));
    for (let tries = 0; tries < 20; tries++) {
      await this.topology.ready();
      if (tries === 0 && first ? await this.reaches(first()) : await this.reaches(again())) {
        if (peer.socket.connected) return;
      }
      await this.pause(20);
    }
    throw new Error(`${peer.as.userId} does not get back`);
  }

  /** Whether a connection comes about: it may be cut before it has said hello. */
  reaches(connecting: Promise<unknown>): Promise<boolean> {
    const connected = connecting.then(
      () => true,
      (error: unknown) => {
        this.trace(`no connection: ${String(error)}`);
        return false;
      },
    );
    return Promise.race([connected, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), REACH_MS))]);
  }

  async #rewatch(watcher: Watcher): Promise<void> {
    await watcher.open();
    for (const [chatId, chat] of watcher.watched) if (chat.isFollowing) await watcher.watch(chatId);
  }

  /** Stops reading from a peer's socket for a while (as a stopped process would). */
  async freeze(peer: Peer, ms: number): Promise<void> {
    const { transport } = peer.socket.io.engine as unknown as { transport: { ws?: { pause(): void; resume(): void } } };
    const { ws } = transport;
    if (!ws || this.#frozen.has(peer)) return;
    ws.pause();
    this.#frozen.set(peer, () => ws.resume());
    await this.pause(ms);
    this.thaw(peer);
  }

  thaw(peer: Peer): void {
    this.#frozen.get(peer)?.();
    this.#frozen.delete(peer);
  }

  // What befalls the servers

  crash(lives: 'present' | 'all'): void {
    for (let life = lives === 'all' ? 0 : this.life; life <= this.life; life++) this.killed.add(life);
  }

  beginLife(): void {
    this.life++;
  }

  expose(): void {
    for (const watcher of this.watchers) for (const chat of watcher.watched.values()) this.leave(chat);
    this.model.expose();
  }

  shelter(): void {
    this.model.shelter();
  }

  async comeBack(): Promise<void> {
    await pause(TOLD_MS);
    const cutOff = [...this.watchers, ...this.players].filter(({ socket }) => !socket.connected);
    await Promise.all(cutOff.map((peer) => this.#return(peer)));
  }

  /** Heals everything, so that all can come to its end. */
  async heal(): Promise<void> {
    this.isFinishing = true;
    this.topology.heal();
    await this.topology.ready();
    for (const peer of [...this.watchers, ...this.players]) {
      this.thaw(peer);
      await this.back(peer);
    }
  }

  /** A number of the servers' metrics, summed over servers and labels. */
  async metric(name: string): Promise<number> {
    const pattern = new RegExp(`^turnstream_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm');
    const texts = await Promise.all(this.topology.urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
    return texts.flatMap((text) => [...text.matchAll(pattern)]).reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** Waits until a metric is zero; says so where it does not become it. */
  async settles(name: string): Promise<void> {
    let last = NaN;
    await until(async () => (last = await this.metric(name)) === 0, name, this.patienceMs).catch(() =>
      this.fault(`turnstream_${name} stays at ${last}`),
    );
  }
}
