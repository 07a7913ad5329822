import type { Assistant } from '../../assistant/index.js';
import { AGENT_NAMESPACE, ChatError, type AgentResult, type Assignment, type Limits } from '../../protocol/index.js';
import { backoffMs, DEFAULT_BACKOFF, type Backoff } from '../backoff.js';
import { systemClock, type Clock } from '../clock.js';
import { CommandQueue } from '../command-queue.js';
import { closedError, Connection } from '../connection.js';
import { systemIds, type IdSource } from '../id-source.js';
import { createSocketTransport } from '../socket-transport.js';
import { Held, type Store } from '../store.js';
import { AgentCaller } from './agent-command.js';
import type {
  Agent,
  AgentOptions,
  AgentState,
  CloseOptions,
  FailedRun,
  OpenedTurn,
  OpenTurnArgs,
} from './agent-options.js';
import { mustBeOptions } from './checked-options.js';
import { FrameHost, type AssignedFrame } from './frame-host.js';
import { FrameSink, type SinkBounds } from './frame-sink.js';

/** How long the server may take to hear that frames were given up, milliseconds. */
const GIVE_UP_MS = 2_000;

/**
 * Connects assistants to a server elsewhere and runs what it assigns to them, until the agent is closed. It comes back
 * after each lost connection, and what runs goes on: each op is applied exactly once and in order (AGT-1).
 *
 * @throws {ChatError} `bad_request` with the field: an id or an address that is none, no assistant, two of one id, a concurrency out of bounds
 */
export function attachAgent(options: AgentOptions): Agent {
  return new AttachedAgent(options);
}

/** An agent is a program, and what its code throws is for those who run it to see. */
// eslint-disable-next-line no-console
const written = (error: unknown, about: FailedRun): void => console.error('an assistant failed', about, error);

const writtenEnd = ({ code, message }: ChatError): void =>
  // eslint-disable-next-line no-console
  console.error(`the agent was closed: ${code}: ${message}`);

class AttachedAgent implements Agent {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #backoff: Backoff;
  readonly #bounds: SinkBounds;
  readonly #connection: Connection;
  readonly #queue: CommandQueue;
  readonly #caller: AgentCaller;
  readonly #host: FrameHost;
  readonly #state: Held<AgentState>;
  #attached = false;
  #draining = false;
  /** Counts connections, so that an answer is not taken for one of another. */
  #connections = 0;

  constructor(private readonly options: AgentOptions) {
    mustBeOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? systemIds;
    this.#backoff = { ...DEFAULT_BACKOFF, ...options.backoff };
    this.#bounds = {
      flushMs: options.flushMs ?? 5,
      maxBufferedOps: options.maxBufferedOps ?? 1_024,
      maxBufferedBytes: options.maxBufferedBytes ?? 4 * 1024 * 1024,
      ackTimeoutMs: options.ackTimeoutMs ?? 30_000,
    };
    this.#connection = this.#createConnection();
    this.#queue = this.#createQueue();
    this.#caller = new AgentCaller(this.#queue, this.#bounds.ackTimeoutMs);
    this.#host = this.#createHost();
    this.#state = new Held(this.#derive());
    this.#connection.state.subscribe(() => this.#changed());
    this.#connection.connect();
  }

  get state(): Store<AgentState> {
    return this.#state;
  }

  async openTurn(input: OpenTurnArgs, run: Assistant['run']): Promise<OpenedTurn> {
    if (this.#draining) throw new ChatError('draining', 'This agent is shutting down.');
    const requestId = input.requestId ?? this.#ids.id();
    const { opening } = this.#host;
    if (opening.has(requestId)) throw new ChatError('conflict', 'This turn is being opened already.');
    opening.add(requestId);
    try {
      const opened = await this.#caller.call('turn:open', { ...input, requestId });
      return await this.#runOpened(opened, run);
    } finally {
      opening.delete(requestId);
    }
  }

  async close({ drain = true, drainMs = 30_000 }: CloseOptions = {}): Promise<void> {
    this.#draining = true;
    this.#host.drain();
    this.#changed();
    if (drain) await this.#until(() => this.#host.running === 0, drainMs);
    const given = Promise.all(this.#host.frames.map((frame) => frame.interrupt('shutdown')));
    await Promise.race([given, this.#until(() => this.#host.running === 0, GIVE_UP_MS)]);
    this.#connection.close();
  }

  async #runOpened({ turn, attempt, stackId }: AgentResult<'turn:open'>, run: Assistant['run']): Promise<OpenedTurn> {
    const key = { requestId: turn.requestId, attempt, stackId };
    if (this.#host.knows(key)) throw new ChatError('conflict', 'This turn runs already.');
    try {
      const { chat } = await this.#caller.call('chat:get', { chatId: turn.chatId });
      const assignment: Assignment = {
        turn,
        chat,
        assistantId: turn.assistantId,
        stackId,
        stackParentId: null,
        stackDepth: 0,
        input: [],
        history: [],
        space: {},
        resume: null,
      };
      return { turn, chat, ended: this.#host.begin(assignment, run) };
    } catch (error) {
      this.#giveUp({ ...key, lastSeq: 0 });
      throw error;
    }
  }

  #createConnection(): Connection {
    const { options } = this;
    return new Connection(
      {
        transport: options.transport ?? createSocketTransport({ url: options.url ?? '', namespace: AGENT_NAMESPACE }),
        token: options.token,
        auth: options.auth,
        clock: this.#clock,
        ids: this.#ids,
        backoff: this.#backoff,
        wake: () => () => undefined,
        connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
        awaitHello: false,
      },
      {
        opened: () => {
          this.#connections++;
          this.#attach(this.#connections, 0);
        },
        refreshed: () => this.#queue.release(),
        lost: () => {
          this.#attached = false;
          this.#host.detach();
          this.#queue.release();
          this.#changed();
        },
        closed: (error) => {
          this.#host.endAll(error ? endReason(error) : 'closed');
          this.#queue.fail(closedError(this.#connection.state.getSnapshot()));
          if (error) (options.onClosed ?? writtenEnd)(error);
        },
        received: (event, body, reply) => {
          if (event === 'turn:assigned') this.#host.assigned(body, reply ?? (() => undefined));
          else if (event === 'turn:abort') this.#host.aborted(body);
        },
      },
    );
  }

  /** Commands go once the agent is attached: before, the server would refuse them. */
  #createQueue(): CommandQueue {
    const connection = this.#connection;
    const isAttached = (): boolean => this.#attached && connection.isOpen;
    const gate = {
      state: connection.state,
      get isOpen(): boolean {
        return isAttached();
      },
      get limits(): Limits {
        return connection.limits;
      },
      request: connection.request.bind(connection),
      refresh: connection.refresh.bind(connection),
    };
    return new CommandQueue(gate, { clock: this.#clock, maxQueuedCommands: 1_000 });
  }

  #createHost(): FrameHost {
    const { options } = this;
    const connection = this.#connection;
    return new FrameHost({
      assistants: new Map(options.assistants.map((assistant) => [assistant.assistantId, assistant])),
      concurrency: options.concurrency ?? 10,
      clock: this.#clock,
      ids: this.#ids,
      closeTimeoutMs: this.#bounds.ackTimeoutMs,
      lostAfterMs: options.lostAfterMs ?? 60_000,
      createSink: (frame, ended) =>
        new FrameSink({
          frame,
          request: connection.request.bind(connection),
          limits: () => connection.limits,
          refresh: () => void connection.refresh(),
          clock: this.#clock,
          ids: this.#ids,
          backoff: this.#backoff,
          bounds: this.#bounds,
          ended,
        }),
      readInput: ({ requestId, stackId }) => this.#caller.call('turn:input', { requestId, stackId }),
      giveUp: (frame) => this.#giveUp(frame),
      changed: () => this.#changed(),
      onError: options.onError ?? written,
    });
  }

  #attach(connection: number, failures: number): void {
    const { agentId, assistants, concurrency = 10 } = this.options;
    const before = this.#host.frames;
    const offer = {
      agentId,
      assistants: assistants.map(({ assistantId, name }) => ({ assistantId, name })),
      concurrency,
    };
    this.#connection.request('agent:attach', offer, this.#bounds.ackTimeoutMs, (outcome) => {
      if (connection !== this.#connections || outcome.type === 'lost') return;
      if (outcome.type === 'data') {
        this.#attached = true;
        this.#host.reattach(before, (outcome.data as AgentResult<'agent:attach'>).assigned);
        this.#queue.flush();
        return this.#changed();
      }
      const { error } = outcome;
      if (error.code === 'token_expired') this.#connection.refresh();
      if (!error.retryable) return this.#connection.close(error);
      const wait = backoffMs(this.#backoff, failures, this.#ids.fraction(), error.retryAfterMs);
      this.#clock.after(wait, () => {
        if (connection === this.#connections && this.#connection.isOpen) this.#attach(connection, failures + 1);
      });
    });
  }

  /** Ends a frame that nobody here runs, so that the turn does not hang: interrupted, it can be resumed. */
  #giveUp({ lastSeq, ...frame }: AssignedFrame): void {
    const close = { ...frame, seq: lastSeq + 1, status: 'interrupted' };
    this.#connection.request('turn:close', close, this.#bounds.ackTimeoutMs, () => undefined);
  }

  /** Waits until it is so, or the time is up, or the connection is closed. */
  #until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo() && this.#connection.state.getSnapshot().status !== 'closed') return;
        timer.cancel();
        end();
        resolve();
      };
      const timer = this.#clock.after(timeoutMs, () => {
        end();
        resolve();
      });
      const end = this.#state.subscribe(look);
      look();
    });
  }

  #derive(): AgentState {
    return {
      connection: this.#connection.state.getSnapshot(),
      attached: this.#attached,
      running: this.#host.running,
      draining: this.#draining,
    };
  }

  #changed(): void {
    const before = this.#state.getSnapshot();
    const after = this.#derive();
    const keys = Object.keys(after) as (keyof AgentState)[];
    if (keys.some((key) => after[key] !== before[key])) this.#state.set(after);
  }
}

/** Why the frames end: the server's word of farewell, if it had one. */
const endReason = ({ code, details }: ChatError): string =>
  typeof details['goaway'] === 'string' ? details['goaway'] : code;
