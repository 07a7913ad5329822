import type { Socket } from 'socket.io';
import {
  agentCommands,
  ChatError,
  parse,
  type Ack,
  type AgentCommandName,
  type Assignment,
  type GoawayCode,
  type TurnAbort,
} from '../../protocol/index.js';
import type { AgentConnection } from '../session/agent-directory.js';
import type { Identity } from '../session/identity.js';
import { asChatError } from './dispatch.js';
import { sayGoaway } from './goaway.js';
import { helloTo } from './hello.js';
import { Outbox } from './outbox.js';
import { FrameSize, refusal, socketCommand } from './socket-command.js';
import type { SocketNeeds } from './socket-needs.js';

/** How long an agent may take to say that it takes a frame (section 6). */
const ASSIGN_ACK_MS = 5000;

/** An agent's connection (section 6). Its commands begin in the order of their frames; ops are applied before the next is read. */
export class AgentSocket implements AgentConnection {
  /** Nothing is sent by it: what the engine keeps for an agent that does not read is bounded too (SUB-7). */
  readonly outbox: Outbox;
  readonly #frame: FrameSize;

  constructor(
    private readonly socket: Socket,
    readonly identity: Identity,
    private readonly needs: SocketNeeds,
  ) {
    this.#frame = new FrameSize(socket, needs.limits.maxFrameBytes);
    this.outbox = new Outbox(socket.conn, {
      maxBytes: needs.maxOutboxBytes,
      isDirect: false,
      monotonic: () => needs.clock.monotonic(),
      onSlow: () => this.goaway('slow_consumer'),
    });
    socket.use((event) => void this.#take(event));
    socket.on('disconnect', () => {
      this.outbox.close();
      needs.agentDesk.disconnected(this);
    });
    socket.emit('hello', helloTo(socket.id, identity, needs));
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
    sayGoaway(this.socket, { code, reconnect: code !== 'replaced' }, this.needs.clock);
  }

  async #take(event: readonly unknown[]): Promise<void> {
    const command = socketCommand(event);
    try {
      this.#frame.check(event);
      if (!isAgentCommand(command.name))
        throw new ChatError('bad_request', 'There is no such command.', { details: { path: 'command' } });
      const args = parse(agentCommands[command.name].args, command.args ?? {});
      command.ack({ ok: true, data: await this.needs.agentDesk.run(command.name, this, args) });
    } catch (error) {
      command.ack(refusal(asChatError(error, this.needs.log, { connectionId: this.socket.id, command: command.name })));
    }
    this.outbox.check();
  }
}

const isAgentCommand = (name: string): name is AgentCommandName => Object.hasOwn(agentCommands, name);
