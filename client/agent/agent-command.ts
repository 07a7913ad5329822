import {
  agentCommands,
  parse,
  type AgentArgsInput,
  type AgentCommandName,
  type AgentResult,
} from '../../protocol/index.js';
import type { ClientCommand } from '../client-command.js';
import type { CommandQueue } from '../command-queue.js';
import { frameBytes } from '../local-error.js';

/** The commands of an agent that have no seq: each may be sent again after its answer was lost. */
export type PlainCommandName = Exclude<AgentCommandName, 'agent:attach' | 'turn:push' | 'turn:close' | 'turn:delegate'>;

/** Sends commands as soon as the agent is attached, again where an answer was lost. */
export class AgentCaller {
  constructor(
    private readonly queue: CommandQueue,
    private readonly ackTimeoutMs: number,
  ) {}

  /** @throws {ChatError} the server's refusal, or one of the client's own */
  async call<N extends PlainCommandName>(name: N, input: AgentArgsInput<N>): Promise<AgentResult<N>> {
    const args = parse(agentCommands[name].args, input) as Record<string, unknown>;
    const command: ClientCommand = {
      name,
      args,
      chatId: null,
      bytes: frameBytes(name, args),
      repeatable: true,
      answerOfRepeated: () => undefined,
    };
    return (await this.queue.submit(command, this.ackTimeoutMs)) as AgentResult<N>;
  }
}
