import { type Delays, noFaults, TURN_STRIDE, TurnsHeard, type Faults } from './turns-heard.js';
import { SocketIoClient } from './socketio-client.js';

const ENDED = Buffer.from('"turn.ended"');

/** How turns of the assistant `pace` go: so many tokens, so many in a second. */
export interface Pace {
  readonly tokens: number;
  readonly perSecond: number;
}

/** By the millisecond, of followers at the node that owns the chat, and at the others. */
export interface ChatDelays {
  readonly own: Delays;
  readonly other: Delays;
}

interface EndedTurn {
  readonly type: string;
  readonly turn?: { readonly status: string; readonly requestId: string };
}

/** A chat in which turn follows turn, and all who follow it. */
export class Conversation {
  readonly #followers: { readonly client: SocketIoClient; readonly heard: TurnsHeard }[] = [];
  /** Tokens of each turn that was started. */
  readonly #turns: number[] = [];
  /** Milliseconds in which a turn ran, of those that were asked for. */
  runningMs = 0;
  /** Tokens of the turns that have ended, and the milliseconds from their start to their end. */
  said = 0;
  saidInMs = 0;
  /** Followers that lost their connection. */
  closed = 0;
  #onEnded: (turn: NonNullable<EndedTurn['turn']>) => void = () => undefined;

  constructor(
    readonly chatId: string,
    private readonly pace: Pace,
    private readonly delays: ChatDelays,
  ) {}

  get turns(): number {
    return this.#turns.length;
  }

  /** Tokens that all followers together should have heard. */
  get expected(): number {
    return this.#followers.length * this.#turns.reduce((sum, tokens) => sum + tokens, 0);
  }

  get heard(): number {
    return this.#sum((each) => each.tokens);
  }

  get frames(): number {
    return this.#sum((each) => each.frames);
  }

  get bytes(): number {
    return this.#sum((each) => each.bytes);
  }

  faults(): Faults {
    const all = noFaults();
    for (const { heard } of this.#followers) {
      all.lost += heard.lost(this.#turns);
      all.twice += heard.faults.twice;
      all.late += heard.faults.late;
      all.torn += heard.faults.torn;
    }
    return all;
  }

  /** One more follows. The first makes the chat, at the node that owns it from then on, and says what is said in it. */
  async join(port: number, isAtOwner: boolean): Promise<void> {
    const isFirst = this.#followers.length === 0;
    const heard = new TurnsHeard(this.pace.perSecond, isAtOwner ? this.delays.own : this.delays.other);
    const client = new SocketIoClient({
      port,
      onEvent: isFirst
        ? (bytes, from, to) => {
            heard.take(bytes, from, to);
            if (bytes.subarray(from, to).includes(ENDED)) this.#ended(bytes.toString('utf8', from, to));
          }
        : heard.take,
    });
    void client.closed.then(() => this.closed++);
    this.#followers.push({ client, heard });
    await client.joined;
    if (isFirst) await client.do('chat:create', { chatId: this.chatId, assistantId: 'pace' });
    await client.do('chat:subscribe', { chatId: this.chatId });
  }

  /** Turn after turn until `endMs`, by the clock of `performance`. @param share of a whole turn, of which the first consists */
  async talkUntil(endMs: number, share: number): Promise<void> {
    for (let part = share; performance.now() < endMs; part = 1) {
      const tokens = Math.max(1, Math.round(part * this.pace.tokens));
      const first = this.#turns.length * TURN_STRIDE;
      this.#turns.push(tokens);
      const began = performance.now();
      await this.#turn({ first, tokens, perSecond: this.pace.perSecond });
      const ended = performance.now();
      this.runningMs += Math.min(ended, endMs) - began;
      this.said += tokens;
      this.saidInMs += ended - began;
    }
  }

  /** @throws {Error} unless every turn is stored as a question and all tokens of its answer, in order */
  async checkStored(): Promise<void> {
    const answers: string[] = [];
    for (let after = 0; ;) {
      const { messages, hasMore } = await this.#speaker.do<Page>('message:list', { chatId: this.chatId, after });
      for (const { role, props } of messages) if (role === 'assistant') answers.push(String(props.content));
      after = messages.at(-1)?.sequence ?? after;
      if (!hasMore) break;
    }
    const told = answers.map((text) => (text.match(/ \w{7}/g) ?? []).map((token) => parseInt(token.slice(1), 36)));
    const isWhole =
      told.length === this.#turns.length &&
      this.#turns.every(
        (tokens, turn) =>
          told[turn]?.length === tokens && told[turn]?.every((number, i) => number === turn * TURN_STRIDE + i),
      );
    if (!isWhole) throw new Error(`${this.chatId}: not every token is stored`);
  }

  close(): void {
    for (const { client } of this.#followers) client.close();
  }

  get #speaker(): SocketIoClient {
    const speaker = this.#followers[0]?.client;
    if (!speaker) throw new Error(`${this.chatId}: nobody has joined`);
    return speaker;
  }

  async #turn(asked: { first: number; tokens: number; perSecond: number }): Promise<void> {
    const ended = new Promise<NonNullable<EndedTurn['turn']>>((resolve) => (this.#onEnded = resolve));
    await this.#speaker.do('turn:start', { chatId: this.chatId, input: JSON.stringify(asked) });
    const cutOff = this.#speaker.closed.then(() => Promise.reject(new Error(`${this.chatId}: cut off`)));
    const { status, requestId } = await Promise.race([ended, cutOff]);
    if (status !== 'completed') throw new Error(`${this.chatId}: turn ${requestId} is ${status}`);
  }

  #ended(packet: string): void {
    const [, events] = JSON.parse(packet.slice(packet.indexOf('['))) as [string, EndedTurn[]];
    const turn = events.find(({ type }) => type === 'turn.ended')?.turn;
    if (turn) this.#onEnded(turn);
  }

  #sum(of: (heard: TurnsHeard) => number): number {
    return this.#followers.reduce((sum, { heard }) => sum + of(heard), 0);
  }
}

interface Page {
  readonly messages: {
    readonly role: string;
    readonly sequence: number;
    readonly props: { readonly content?: unknown };
  }[];
  readonly hasMore: boolean;
}
