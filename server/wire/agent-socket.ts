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
import type { AgentConnection } from '../session/agent-directory.js';
import type { Identity } from '../session/identity.js';
import type { Origin } from './audit-log.js';
import { ConnectionIdentity } from './connection-identity.js';
import { asChatError } from './dispatch.js';
import { closeSoon, sayGoaway } from './goaway.js';
import { helloTo } from './hello.js';
import { Outbox } from './outbox.js';
import { FrameSize, refusal, socketCommand, type SocketCommand } from './socket-command.js';
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
  /** The count under way of a command before, which those that follow it wait for. */
  #counting: Promise<void> | null = null;
  /** Why it is not heard at present. */
  #refused: ChatError | null = null;

  constructor(
    private readonly socket: Socket,
    identity: Identity,
    private readonly origin: Origin,
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
      origin,
      { ...needs, mustFit: mustBeAgent },
      {
        // Turns go on (CON-5): what it is given until it has renewed its identity it cannot answer.
        expired: () => void socket.emit('goaway', { code: 'token_expired', reconnect: true }),
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

  async assign(assignment: Assignment): Promise<boolean> {
    try {
      const answer = (await this.socket.timeout(ASSIGN_ACK_MS).emitWithAck('turn:assigned', assignment)) as
        Partial<Ack<unknown>> | undefined;
      return answer?.ok === true;
    } catch {
      return false; // no word in time
    }
  }

  abort(abort: TurnAbort): void {
    this.socket.emit('turn:abort', abort);
  }

  goaway(code: GoawayCode): void {
    this.outbox.close();
    sayGoaway(this.socket, { code, reconnect: code !== 'replaced' && code !== 'revoked' }, this.needs.clock);
  }

  async #take(event: readonly unknown[]): Promise<void> {
    const command = socketCommand(event);
    const bytes = this.#frame.of(event);
    try {
      const isHolders = isAgentCommand(command.name) && agentCommands[command.name].right === 'hold';
      // What a frame's holder says is bounded by its acks (AGT-6) and not by a rate: it is an assistant's words as they come.
      if (!isHolders) await this.#count(bytes);
      else if (this.#counting) await this.#counting;
      this.#frame.check(event);
      command.ack({ ok: true, data: await (isHolders ? this.#asHolder(command, bytes) : this.#run(command)) });
    } catch (error) {
      command.ack(refusal(asChatError(error, this.needs.log, { connectionId: this.socket.id, command: command.name })));
    }
    this.outbox.check();
  }

  /** Who only says that it holds a frame is counted like anyone, and heard no more once it has said so too often. */
  async #asHolder(command: SocketCommand, bytes: number): Promise<unknown> {
    if (this.#refused) throw this.#refused;
    try {
      return await this.#run(command);
    } catch (error) {
      this.#count(bytes).catch((limited: ChatError) => {
        this.#refused = limited;
        this.needs.clock.after(limited.retryAfterMs ?? 0, () => (this.#refused = null));
      });
      throw error;
    }
  }

  async #run({ name, args }: SocketCommand): Promise<unknown> {
    if (!isAgentCommand(name))
      throw new ChatError('bad_request', 'There is no such command.', { details: { path: 'command' } });
    if (name === 'auth:refresh')
      return this.#standing.renew(parse(agentCommands[name].args, args ?? {}).token, this.socket.handshake.auth);
    if (this.#standing.settled) await this.#standing.settled;
    this.#standing.mustStand();
    return this.needs.dispatch.agent(name, this, this.origin, args);
  }

  /** Counts a command; those that come meanwhile wait, so that all begin in their order. @throws {ChatError} `rate_limited` */
  async #count(bytes: number): Promise<void> {
    const counted = (this.#counting ?? Promise.resolve()).then(async () => {
      await this.needs.rateLimit.command(this.identity);
      await this.needs.rateLimit.bytes(this.identity, bytes);
    });
    const settled = counted
      .catch(() => undefined)
      .then(() => {
        if (this.#counting === settled) this.#counting = null;
      });
    this.#counting = settled;
    await counted;
  }
}

const isAgentCommand = (name: string): name is AgentCommandName => Object.hasOwn(agentCommands, name);
