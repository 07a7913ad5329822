import type { Socket } from 'socket.io-client';
import type { Ack, AgentResult, Assignment, ErrorCode, OpInput, TurnAbort } from '../../protocol/index.js';
import { Peer } from '../harness/peer.js';
import type { Model } from './model.js';
import { WrittenRun } from './model.js';
import { pause } from './pause.js';
import { scriptOf, type FrameName, type Scene, type Script } from './script.js';

/** What players need of the round. */
export interface Stage {
  readonly seed: number;
  readonly model: Model;
  /** Which life of the server this is. */
  readonly life: number;
  /** Whether everything should come to its end: nobody hangs or dawdles any more. */
  readonly isFinishing: boolean;
  /** Whether what a command is about may be out of reach for a while: it is asked for again. */
  readonly isSpread: boolean;
  pause(ms: number): Promise<void>;
  trace(line: string): void;
  fault(what: string): void;
  nextSerial(): number;
  /** Resolves when the player is attached again. */
  back(player: Player): Promise<void>;
}

/** Refusals that end a play: the frame is another's, or over. */
const OVER = new Set<ErrorCode>(['turn_ended', 'stale_attempt', 'not_found', 'forbidden']);

/** How long it waits for what is away. */
const AWAY_MS = 100;

/** A numbered command of a frame: sent until it has an answer, under the same seq (AGT-1). */
interface Numbered {
  readonly command: 'turn:push' | 'turn:delegate' | 'turn:close';
  readonly args: Record<string, unknown>;
  /** Must be refused, and takes no seq. */
  readonly isBad?: boolean;
}

type Sent = Numbered & { readonly seq: number };

/** A remote agent that plays scripts in the frames it is given. */
export class Player extends Peer {
  readonly plays = new Map<string, Play>();
  /** The connection that has attached: before, none may speak for the agent (AGT-3). */
  #attached: Socket | null = null;

  constructor(
    url: string,
    readonly agentId: string,
    private readonly assistants: readonly string[],
    private readonly concurrency: number,
    private readonly stage: Stage,
  ) {
    super(url, '/agents', { userId: 'agent', roles: ['agent'] });
  }

  get isAttached(): boolean {
    return this.socket?.connected && this.socket === this.#attached;
  }

  protected override listen(socket: Socket): void {
    socket.on('turn:abort', (abort: TurnAbort) => {
      const play = socket === this.socket ? this.plays.get(keyOf(abort)) : undefined;
      // Some assistants do not listen: what they send on is refused.
      if (play && !play.isDeaf) play.isOver = true;
    });
    socket.on('turn:assigned', (assignment: Assignment, ack: (answer: Ack<null>) => void) => {
      if (socket !== this.socket) return; // read late, from a connection that was replaced
      ack({ ok: true, data: null });
      this.begin(assignment, 0);
    });
  }

  /** Connects and attaches; what it holds no more is over, what it does not know is taken up. */
  async join(): Promise<void> {
    await this.open();
    const before = [...this.plays];
    const { assigned } = await this.do<AgentResult<'agent:attach'>>('agent:attach', {
      agentId: this.agentId,
      assistants: this.assistants.map((assistantId) => ({ assistantId })),
      concurrency: this.concurrency,
    });
    this.#attached = this.socket;
    const held = new Set(assigned.map(keyOf));
    for (const [key, play] of before) if (!held.has(key)) play.isOver = true;
    for (const { lastSeq, ...frame } of assigned) {
      const play = this.plays.get(keyOf(frame));
      play?.heard(lastSeq);
      // It had let go of it, since an earlier answer did not name it; nobody else would end it.
      if (play?.isOver) void this.#giveUp(frame, lastSeq);
      else if (play) continue;
      else if (lastSeq > 0)
        this.stage.fault(`AGT-4: ${keyOf(frame)} is at seq ${lastSeq}, and its agent has not said a word`);
      else void this.#takeUp(frame);
    }
  }

  /** Attaches once more under the same name, while the older connection stands (AGT-4). */
  async replace(): Promise<void> {
    this.socket = undefined as never; // so that opening does not close it
    await this.join();
  }

  /** Plays a frame that it opened itself. */
  opened(chatId: string, { turn, attempt, stackId }: AgentResult<'turn:open'>): void {
    const name: FrameName = {
      requestId: turn.requestId,
      attempt,
      stackId,
      stackDepth: 0,
      isOpened: true,
      resumeSteps: [],
    };
    if (!this.plays.has(keyOf(name)) && turn.status === 'running') this.#play(name, chatId, 0);
  }

  begin(assignment: Assignment, lastSeq: number): void {
    const { turn, chat, stackId, stackDepth, resume } = assignment;
    const resumeSteps = (resume?.steps ?? []).filter((step) => step.stackId === stackId);
    this.#play(
      { requestId: turn.requestId, attempt: turn.attempt, stackId, stackDepth, isOpened: false, resumeSteps },
      chat.chatId,
      lastSeq,
    );
  }

  async #giveUp(frame: { requestId: string; attempt: number; stackId: string }, lastSeq: number): Promise<void> {
    await this.ask('turn:close', { ...frame, seq: lastSeq + 1, status: 'interrupted' }).catch(() => null);
  }

  async #takeUp(frame: { requestId: string; attempt: number; stackId: string }): Promise<void> {
    const ack = await this.ask('turn:input', { requestId: frame.requestId, stackId: frame.stackId }).catch(() => null);
    // The assignment itself may have come meanwhile.
    if (ack?.ok && !this.plays.has(keyOf(frame))) this.begin(ack.data, 0);
  }

  #play(name: FrameName, chatId: string, lastSeq: number): void {
    const before = this.plays.get(keyOf(name));
    if (before && !before.isOver && before.run.life === this.stage.life) return;
    const play = new Play(this, this.stage, name, chatId, lastSeq);
    this.plays.set(keyOf(name), play);
    void play.perform().catch((error: unknown) => this.stage.fault(`a play failed: ${String(error)}`));
  }
}

/** One frame being played. */
export class Play {
  isOver = false;
  readonly isDeaf: boolean;
  readonly run: WrittenRun;
  readonly #script: Script;
  /** The seqs of the pushes written, in order. */
  readonly #pushes: number[] = [];
  #lastSeq: number;
  #lastPush: readonly OpInput[] | null = null;

  constructor(
    private readonly player: Player,
    private readonly stage: Stage,
    private readonly name: FrameName,
    chatId: string,
    lastSeq: number,
  ) {
    const serial = stage.nextSerial();
    this.isDeaf = serial % 4 === 0;
    this.#lastSeq = lastSeq;
    this.#script = scriptOf(stage.seed, name, serial);
    this.run = new WrittenRun(chatId, name.requestId, name.attempt, stage.life, name.stackDepth === 0);
    stage.model.begin(this.run);
    stage.trace(
      `${player.agentId} plays ${keyOf(name)} as ${serial}: ${this.#script.scenes.map((scene) => scene.do).join(' ')} ${this.#script.end}`,
    );
  }

  /** The server has taken everything up to this seq. */
  heard(seq: number): void {
    this.run.acknowledged = Math.max(this.run.acknowledged, this.#pushes.filter((pushed) => pushed <= seq).length);
  }

  async perform(): Promise<void> {
    for (const scene of this.#script.scenes) {
      if (this.isOver) return;
      await this.#scene(scene);
    }
    if (this.isOver) return;
    const { end } = this.#script;
    const [ack] = await this.#send([
      { command: 'turn:close', args: { status: end, usage: { tokens: this.#lastSeq } } },
    ]);
    this.isOver = true;
    if (!ack) return;
    const said = ack as { turn?: { status: string; attempt: number }; status?: string };
    if ((said.turn?.status ?? said.status) !== end)
      this.stage.fault(`${keyOf(this.name)} was closed as ${end} and answered ${JSON.stringify(ack)}`);
    this.run.isComplete = end === 'completed';
  }

  async #scene(scene: Scene): Promise<void> {
    switch (scene.do) {
      case 'push': {
        for (const ops of scene.pushes) this.stage.model.push(this.run, ops);
        this.#lastPush = scene.pushes.at(-1) ?? null;
        await this.#send(scene.pushes.map((ops) => ({ command: 'turn:push', args: { ops } })));
        return;
      }
      case 'badPush':
        await this.#send([{ command: 'turn:push', args: { ops: scene.ops }, isBad: true }]);
        return;
      case 'repeat':
        if (this.#lastPush) await this.#repeat(this.#lastPush);
        return;
      case 'pause':
        return this.stage.pause(scene.ms);
      case 'delegate': {
        const { assistantId, childStackId } = scene;
        const answered = this.#send([
          { command: 'turn:delegate', args: { assistantId, childStackId, input: 'a call' } },
        ]);
        if (scene.isAwaited) await answered;
        return;
      }
      case 'hang':
        while (!this.isOver && !this.stage.isFinishing) await this.stage.pause(20);
    }
  }

  async #repeat(ops: readonly OpInput[]): Promise<void> {
    const seq = this.#pushes.at(-1) as number;
    const ack = await this.#ask('turn:push', { ...this.#frame, seq, ops });
    if (ack?.ok && (ack.data as { seq: number }).seq !== seq)
      this.stage.fault(`AGT-1: seq ${seq} was repeated and answered ${JSON.stringify(ack)}`);
    if (ack && !ack.ok && !OVER.has(ack.error.code) && !this.#isAway(ack.error))
      this.stage.fault(`AGT-1: a repetition was refused: ${JSON.stringify(ack.error)}`);
  }

  get #frame() {
    const { requestId, attempt, stackId } = this.name;
    return { requestId, attempt, stackId };
  }

  /** Sends commands without waiting between them, again after each loss, until each has its answer. Gives the answers. */
  async #send(commands: readonly Numbered[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    let waiting = commands.map((command): Sent => ({ ...command, seq: this.#numberOf(command) }));
    for (let gaps = 0; waiting.length > 0 && !this.isOver;) {
      const acks = await Promise.all(
        waiting.map(({ command, args, seq }) => this.#ask(command, { ...this.#frame, ...args, seq })),
      );
      const isLost = acks.includes(null);
      const left = waiting.filter((sent, index) => this.#met(sent, acks[index] ?? null, answers));
      const isAway = acks.some((ack) => ack?.ok === false && this.#isAway(ack.error));
      if (left.length > 0 && !isLost && !isAway && ++gaps > 5) this.#refused(left[0] as Sent, { code: 'seq_gap' });
      waiting = left;
      if (isLost) await this.stage.back(this.player);
      else if (isAway) await pause(AWAY_MS);
      else if (left.length > 0) await this.stage.pause(5);
    }
    return answers;
  }

  /** @returns whether it has to be sent again: it was lost, or another before it was */
  #met(sent: Sent, ack: Ack<unknown> | null, answers: unknown[]): boolean {
    if (!ack || (!ack.ok && (ack.error.code === 'seq_gap' || this.#isAway(ack.error)))) return true;
    if (ack.ok) this.#taken(sent, ack.data, answers);
    else if (OVER.has(ack.error.code)) this.isOver = true;
    else if (!sent.isBad || ack.error.code !== 'bad_request') this.#refused(sent, ack.error);
    return false;
  }

  /** Nobody knows whether it was done: it is said again under its seq (AGT-1). */
  #isAway({ code }: { code: ErrorCode }): boolean {
    return this.stage.isSpread && code === 'storage_unavailable';
  }

  #numberOf({ command, isBad }: Numbered): number {
    if (isBad) return this.#lastSeq + 1;
    const seq = ++this.#lastSeq;
    if (command === 'turn:push') this.#pushes.push(seq);
    return seq;
  }

  #taken({ seq, isBad }: Sent, data: unknown, answers: unknown[]): void {
    if (isBad) this.stage.fault(`AGT-2: a bad push of ${keyOf(this.name)} was taken`);
    answers.push(data);
    if (!isBad) this.heard(seq);
  }

  #refused({ command, seq }: Sent, error: { code: string }): void {
    this.isOver = true;
    this.stage.fault(`${command} ${seq} of ${keyOf(this.name)} was refused: ${JSON.stringify(error)}`);
  }

  async #ask(command: string, args: Record<string, unknown>): Promise<Ack<unknown> | null> {
    if (!this.player.isAttached) return null;
    const { socket } = this.player;
    try {
      const ack = await this.player.ask(command, args, command === 'turn:delegate' ? 120_000 : 30_000);
      // What an older connection is refused says nothing of the newer one.
      return !ack.ok && socket !== this.player.socket ? null : ack;
    } catch (error) {
      if (socket.connected)
        this.stage.fault(`CON-4: ${command} of ${keyOf(this.name)} was not answered: ${String(error)}`);
      return null;
    }
  }
}

const keyOf = ({ requestId, attempt, stackId }: { requestId: string; attempt: number; stackId: string }): string =>
  `${requestId}/${attempt}/${stackId}`;
