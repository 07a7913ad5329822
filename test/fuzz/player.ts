import type { Socket } from 'socket.io-client';
import type { Ack, AgentResult, Assignment, ErrorCode, OpInput, TurnAbort } from '../../protocol/index.js';
import { Peer } from '../harness/peer.js';
import type { Model } from './model.js';
import { WrittenRun } from './model.js';
import { scriptOf, type FrameName, type Scene, type Script } from './script.js';

/** What players need of the round. */
export interface Stage {
  readonly seed: number;
  readonly model: Model;
  /** Which life of the server this is. */
  readonly life: number;
  /** Whether everything should come to its end: nobody hangs or dawdles any more. */
  readonly isFinishing: boolean;
  pause(ms: number): Promise<void>;
  trace(line: string): void;
  fault(what: string): void;
  nextSerial(): number;
  /** Resolves when the player may speak again; false: never. */
  back(player: Player): Promise<boolean>;
}

/** Refusals that end a play: the frame is another's, or over. */
const OVER = new Set<ErrorCode>(['turn_ended', 'stale_attempt', 'not_found', 'forbidden']);

/** A numbered command of a frame: sent until it has an answer, under the same seq (AGT-1). */
interface Numbered {
  readonly command: 'turn:push' | 'turn:delegate' | 'turn:close';
  readonly args: Record<string, unknown>;
  /** Must be refused, and takes no seq. */
  readonly isBad?: boolean;
}

/** A remote agent that plays scripts in the frames it is given. */
export class Player extends Peer {
  readonly plays = new Map<string, Play>();
  #stage: Stage;

  constructor(
    url: string,
    readonly agentId: string,
    private readonly assistants: readonly string[],
    private readonly concurrency: number,
    stage: Stage,
  ) {
    super(url, '/agents', { userId: 'agent', roles: ['agent'] });
    this.#stage = stage;
  }

  protected override listen(socket: Socket): void {
    socket.on('turn:abort', (abort: TurnAbort) => {
      const play = this.plays.get(keyOf(abort));
      // Some assistants do not listen: what they send on is refused.
      if (play && abort.reason !== 'agent ignores' && !play.isDeaf) play.isOver = true;
    });
    socket.on('turn:assigned', (assignment: Assignment, ack: (answer: Ack<null>) => void) => {
      ack({ ok: true, data: null });
      this.begin(assignment, 0);
    });
  }

  /** Connects and attaches; what it holds no more is over, what it does not know is taken up. */
  async join(): Promise<void> {
    await this.open();
    const { assigned } = await this.do<AgentResult<'agent:attach'>>('agent:attach', {
      agentId: this.agentId,
      assistants: this.assistants.map((assistantId) => ({ assistantId })),
      concurrency: this.concurrency,
    });
    const held = new Set(assigned.map(keyOf));
    for (const [key, play] of this.plays) if (!held.has(key)) play.isOver = true;
    for (const { lastSeq, ...frame } of assigned) {
      const play = this.plays.get(keyOf(frame));
      if (play) play.heard(lastSeq);
      else if (lastSeq > 0) this.#stage.fault(`AGT-4: ${keyOf(frame)} is at seq ${lastSeq}, and its agent has not said a word`);
      else void this.#takeUp(frame);
    }
  }

  /** Plays a frame that it opened itself. */
  opened(chatId: string, { turn, attempt, stackId }: AgentResult<'turn:open'>): void {
    const name: FrameName = { requestId: turn.requestId, attempt, stackId, stackDepth: 0, isOpened: true, resumeSteps: [] };
    if (!this.plays.has(keyOf(name)) && turn.status === 'running') this.#play(name, chatId, 0);
  }

  begin(assignment: Assignment, lastSeq: number): void {
    const { turn, chat, stackId, stackDepth, resume } = assignment;
    const resumeSteps = (resume?.steps ?? []).filter((step) => step.stackId === stackId);
    this.#play({ requestId: turn.requestId, attempt: turn.attempt, stackId, stackDepth, isOpened: false, resumeSteps }, chat.chatId, lastSeq);
  }

  async #takeUp(frame: { requestId: string; attempt: number; stackId: string }): Promise<void> {
    const ack = await this.ask('turn:input', { requestId: frame.requestId, stackId: frame.stackId }).catch(() => null);
    // The assignment itself may have come meanwhile.
    if (ack?.ok && !this.plays.has(keyOf(frame))) this.begin(ack.data, 0);
  }

  #play(name: FrameName, chatId: string, lastSeq: number): void {
    const before = this.plays.get(keyOf(name));
    if (before && !before.isOver && before.run.life === this.#stage.life) return;
    const play = new Play(this, this.#stage, name, chatId, lastSeq);
    this.plays.set(keyOf(name), play);
    void play.perform().catch((error: unknown) => this.#stage.fault(`a play failed: ${String(error)}`));
  }
}

/** One frame being played. */
export class Play {
  isOver = false;
  readonly isDeaf: boolean;
  readonly run: WrittenRun;
  readonly #script: Script;
  readonly #background: Promise<void>[] = [];
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
    this.run = new WrittenRun(chatId, name.requestId, name.attempt, stage.life);
    stage.model.runs.push(this.run);
    stage.trace(`${player.agentId} plays ${keyOf(name)} as ${serial}: ${this.#script.scenes.map((scene) => scene.do).join(' ')} ${this.#script.end}`);
  }

  /** What the server said it has applied, when the agent came back. */
  heard(lastSeq: number): void {
    this.#known = Math.max(this.#known, lastSeq);
  }
  #known = 0;

  async perform(): Promise<void> {
    for (const scene of this.#script.scenes) {
      if (this.isOver) return;
      await this.#scene(scene);
    }
    if (this.isOver) return;
    const { end } = this.#script;
    const [ack] = await this.#send([{ command: 'turn:close', args: { status: end, usage: { tokens: this.#lastSeq } } }]);
    this.isOver = true;
    if (!ack) return;
    const said = ack as { turn?: { status: string; attempt: number }; status?: string };
    if ((said.turn?.status ?? said.status) !== end) this.stage.fault(`${keyOf(this.name)} was closed as ${end} and answered ${JSON.stringify(ack)}`);
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
        const answered = this.#send([{ command: 'turn:delegate', args: { assistantId, childStackId, input: 'a call' } }]).then(() => undefined);
        if (scene.isAwaited) await answered;
        else this.#background.push(answered);
        return;
      }
      case 'hang':
        while (!this.isOver && !this.stage.isFinishing) await this.stage.pause(20);
    }
  }

  async #repeat(ops: readonly OpInput[]): Promise<void> {
    const seq = this.#pushSeq;
    const ack = await this.#ask('turn:push', { ...this.#frame, seq, ops });
    if (ack?.ok && (ack.data as { seq: number }).seq !== seq) this.stage.fault(`AGT-1: seq ${seq} was repeated and answered ${JSON.stringify(ack)}`);
    if (ack && !ack.ok && !OVER.has(ack.error.code)) this.stage.fault(`AGT-1: a repetition was refused: ${JSON.stringify(ack.error)}`);
  }
  #pushSeq = 1;

  get #frame() {
    const { requestId, attempt, stackId } = this.name;
    return { requestId, attempt, stackId };
  }

  /** Sends commands without waiting between them, again after each loss, until each has its answer. Gives the answers. */
  async #send(commands: readonly Numbered[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    let waiting = commands.map((command) => ({ ...command, seq: command.isBad ? this.#lastSeq + 1 : ++this.#lastSeq }));
    let gaps = 0;
    while (waiting.length > 0 && !this.isOver) {
      const acks = await Promise.all(waiting.map(({ command, args, seq }) => this.#ask(command, { ...this.#frame, ...args, seq })));
      let isLost = false;
      const left: typeof waiting = [];
      for (const [index, numbered] of waiting.entries()) {
        const ack = acks[index] ?? null;
        if (ack?.ok) this.#taken(numbered, ack.data, answers);
        else if (ack && OVER.has(ack.error.code)) this.isOver = true;
        else if (ack && numbered.isBad && ack.error.code === 'bad_request') continue;
        else if (ack?.error.code === 'seq_gap' && (isLost || ++gaps < 5)) left.push(numbered);
        else if (ack) this.#refused(numbered, ack.error);
        else {
          isLost = true;
          left.push(numbered);
        }
      }
      waiting = left;
      if (isLost && !(await this.stage.back(this.player))) this.isOver = true;
    }
    // A push that was lost on the way and applied all the same.
    if (this.#known > 0) this.run.acknowledged = Math.max(this.run.acknowledged, this.#pushes.filter((seq) => seq <= this.#known).length);
    return answers;
  }
  /** The seqs of the pushes that were written, in order. */
  readonly #pushes: number[] = [];

  #taken({ command, seq, isBad }: Numbered & { seq: number }, data: unknown, answers: unknown[]): void {
    if (isBad) this.stage.fault(`AGT-2: a bad push of ${keyOf(this.name)} was taken`);
    answers.push(data);
    if (command !== 'turn:push') return;
    this.run.acknowledged++;
    this.#pushSeq = seq;
    this.#pushes.push(seq);
  }

  #refused({ command, seq }: Numbered & { seq: number }, error: { code: string }): void {
    this.isOver = true;
    this.stage.fault(`${command} ${seq} of ${keyOf(this.name)} was refused: ${JSON.stringify(error)}`);
  }

  async #ask(command: string, args: Record<string, unknown>): Promise<Ack<unknown> | null> {
    if (!this.player.socket.connected) return null;
    const { socket } = this.player;
    try {
      return await this.player.ask(command, args, command === 'turn:delegate' ? 120_000 : 20_000);
    } catch (error) {
      if (socket.connected) this.stage.fault(`CON-4: ${command} of ${keyOf(this.name)} was not answered: ${String(error)}`);
      return null;
    }
  }
}

const keyOf = ({ requestId, attempt, stackId }: { requestId: string; attempt: number; stackId: string }): string => `${requestId}/${attempt}/${stackId}`;
