import type { Socket } from 'socket.io';
import {
  agentCommands,
  ChatError,
  parse,
  type AgentCommandName,
  type Assignment,
  type Ack,
  type GoawayCode,
  type TurnAbort,
} from '../../protocol/index.js';
import type { AgentConnection, OfferAnswer } from '../session/attached-agent.js';
import type { Identity } from '../session/identity.js';
import { Mutex } from '../session/mutex.js';
import type { Provenance } from './caller.js';
import { ConnectionIdentity } from './connection-identity.js';
import { asChatError } from './as-chat-error.js';
import { closeSoon, sayGoaway, warnGoaway } from './goaway.js';
import { helloTo } from './hello.js';
import { Outbox } from './outbox.js';
import { FrameSize, noSuchCommand, refusal, socketCommand, type SocketCommand } from './socket-command.js';
import type { SocketNeeds } from './socket-needs.js';

/** How long an agent may take to say that it takes a frame (section 6). */
const ASSIGN_ACK_MS = 5000;

/** Who may be on the namespace `/agents`. @throws {ChatError} `forbidden` */
export function mustBeAgent({ roles }: Identity): void {
  if (!roles.includes('agent')) throw new ChatError('forbidden', 'This identity is not an agent.');
}

/** An agent's connection (section 6). Its commands begin in the order of their frames; ops are applied before the next is read. */
export class AgentSocket implements AgentConnection {
  /** Nothing is sent by it: what the engine keeps for an agent that does not read is bounded too (SUB-7). */
  readonly outbox: Outbox;
  readonly #frame: FrameSize;
  readonly #standing: ConnectionIdentity;
  /** The counts of commands under way, which those that follow wait for. */
  readonly #counts = new Mutex();
  /** Why it is not heard, and until when by the monotonic clock. */
  #refused: { readonly error: ChatError; readonly until: number } | null = null;

  constructor(
    private readonly socket: Socket,
    identity: Identity,
    private readonly from: Provenance,
    private readonly needs: SocketNeeds,
  ) {
    this.#frame = new FrameSize(socket, needs.limits.maxFrameBytes, needs.clock);
    this.outbox = new Outbox(socket.conn, {
      maxBytes: needs.maxOutboxBytes,
      isDirect: false,
      monotonic: () => needs.clock.monotonic(),
      onSlow: () => this.goaway('slow_consumer'),
    });
    this.#standing = new ConnectionIdentity(
      identity,
      from,
      { ...needs, mustFit: mustBeAgent },
      {
        // Turns go on (CON-5): what it is given until it has renewed its identity it cannot answer.
        expired: () => warnGoaway(socket, 'token_expired'),
        renewed: (isOther) => {
          if (isOther) needs.agentDesk.renewed(this);
        },
        lapsed: () => closeSoon(socket, needs.clock),
        revoked: () => this.goaway('revoked'),
      },
    );
    socket.use((event) => void this.#take(event));
    socket.on('disconnect', () => {
      this.outbox.close();
      this.#standing.close();
      needs.agentDesk.disconnected(this);
    });
    socket.emit('hello', helloTo(socket.id, identity, needs));
  }

  get identity(): Identity {
    return this.#standing.identity;
  }

  async assign(assignment: Assignment): Promise<OfferAnswer> {
    try {
      const answer = (await this.socket.timeout(ASSIGN_ACK_MS).emitWithAck('turn:assigned', assignment)) as
        Partial<Ack<unknown>> | undefined;
      return answer?.ok === true ? 'taken' : 'refused';
    } catch {
      return 'refused'; // no word in time
    }
  }

  abort(abort: TurnAbort): void {
    this.socket.emit('turn:abort', abort);
  }

  goaway(code: GoawayCode, retryAfterMs?: number): void {
    this.outbox.close();
    sayGoaway(this.socket, code, this.needs.clock, retryAfterMs);
  }

  async #take(event: readonly unknown[]): Promise<void> {
    const bytes = this.#frame.of(event);
    const command = socketCommand(event);
    try {
      // What a frame's holder says is bounded by its acks (AGT-6) and not by a rate: it is an assistant's words as they come.
      const isPaced = isAgentCommand(command.name) && agentCommands[command.name].paced;
      const counted = isPaced ? this.#counts.settled() : this.#count(bytes);
      if (counted) await counted;
      this.#frame.mustFit(bytes);
      command.ack({ ok: true, data: await (isPaced ? this.#asHolder(command, bytes) : this.#run(command)) });
    } catch (error) {
      command.ack(refusal(asChatError(error, this.needs.log, { connectionId: this.socket.id, command: command.name })));
    }
    this.outbox.check();
  }

  /** Who only says that it holds a frame is counted like anyone, and heard no more once it has said so too often. */
  async #asHolder(command: SocketCommand, bytes: number): Promise<unknown> {
    const { clock, log } = this.needs;
    if (this.#refused && clock.monotonic() < this.#refused.until) throw this.#refused.error;
    try {
      return await this.#run(command);
    } catch (error) {
      this.#count(bytes).catch((thrown: unknown) => {
        const limited = asChatError(thrown, log, {});
        this.#refused = { error: limited, until: clock.monotonic() + (limited.retryAfterMs ?? 0) };
      });
      throw error;
    }
  }

  async #run({ name, args }: SocketCommand): Promise<unknown> {
    if (!isAgentCommand(name)) throw noSuchCommand();
    if (name === 'auth:refresh')
      return this.#standing.renew(parse(agentCommands[name].args, args ?? {}).token, this.socket.handshake.auth);
    const renewing = this.#standing.settled();
    // What comes in order is done in order: nothing is put off where there is nothing to wait for.
    if (renewing) await renewing;
    this.#standing.mustStand();
    return this.needs.dispatch.agent(name, this, this.from, args);
  }

  /** Counts a command; those that come meanwhile wait, so that all begin in their order. @throws {ChatError} `rate_limited` */
  #count(bytes: number): Promise<void> {
    return this.#counts.run(() => this.needs.rateLimit.frame(this.identity, bytes));
  }
}

const isAgentCommand = (name: string): name is AgentCommandName => Object.hasOwn(agentCommands, name);
