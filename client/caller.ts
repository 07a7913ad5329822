import type { ArgsInput, Result } from '../protocol/index.js';
import { clientCommand, type ClientCommand, type SocketCommandName } from './client-command.js';
import type { CommandQueue } from './command-queue.js';
import type { Connection } from './connection.js';
import type { IdSource } from './id-source.js';

export interface CallOptions {
  /** How long to wait for the answer of what was sent, milliseconds. Default: the client's `ackTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** Commands as promises. */
export class Caller {
  constructor(
    private readonly queue: CommandQueue,
    private readonly connection: Connection,
    private readonly ids: IdSource,
    private readonly ackTimeoutMs: number,
    /** Told of each success, before the one who asked. */
    private readonly answered: (name: string, args: object, data: unknown) => void,
  ) {}

  /** @throws {ChatError} the server's refusal, or one of the client's own (`details.reason`) */
  async call<N extends SocketCommandName>(name: N, args: ArgsInput<N>, options: CallOptions = {}): Promise<Result<N>> {
    return (await this.send(clientCommand(name, args, this.ids), options)) as Result<N>;
  }

  /** @throws as {@link call} */
  async send(command: ClientCommand, { timeoutMs = this.ackTimeoutMs }: CallOptions = {}): Promise<unknown> {
    if (this.connection.state.getSnapshot().status === 'idle') this.connection.connect();
    const data = await this.queue.submit(command, timeoutMs);
    this.answered(command.name, command.args, data);
    return data;
  }
}
