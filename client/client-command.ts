import { commands, definedOf, isJsonObject, parse, type ArgsInput, type CommandName } from '../protocol/index.js';
import type { IdSource } from './id-source.js';
import { frameBytes } from './local-error.js';

/** The commands of the table that sockets carry. */
export type SocketCommandName = Exclude<CommandName, 'admin:revoke'>;

/** A command that was checked and can be sent. Its arguments name whatever makes sending it again harmless. */
export interface ClientCommand {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Commands on one chat keep their order; null where none is named. */
  readonly chatId: string | null;
  /** Size of its frame in bytes. */
  readonly bytes: number;
  /**
   * Whether it may be sent again after its answer was lost: done twice it does the same as once (C06). What stops or
   * resumes "whatever is there" is not: by then, something else may be there.
   */
  readonly repeatable: boolean;
  /** The answer, where a repeated command is refused because the first time was a success. */
  readonly answerOfRepeated: (code: string) => unknown;
}

/**
 * Checks a command by the table, and gives a new chat or turn its id: here, so that a retry is the same one.
 *
 * @throws {ChatError} `bad_request`, `payload_too_large`: what the server would have answered
 */
export function clientCommand<N extends SocketCommandName>(name: N, input: ArgsInput<N>, ids: IdSource): ClientCommand {
  const args = parse(commands[name].args, withId(name, input, ids)) as Record<string, unknown>;
  return {
    name,
    args,
    chatId: typeof args['chatId'] === 'string' ? args['chatId'] : null,
    bytes: frameBytes(name, args),
    repeatable: isRepeatable(name, args),
    answerOfRepeated: (code) =>
      name === 'chat:delete' && code === 'not_found' ? { chatId: args['chatId'] } : undefined,
  };
}

function withId(name: SocketCommandName, input: object, ids: IdSource): object {
  switch (name) {
    case 'turn:start':
      return { requestId: ids.id(), ...definedOf(input) };
    case 'chat:create':
      return { chatId: ids.id(), ...definedOf(input) };
    case 'message:save':
      return { ...input, messages: eachWithId(input, 'messages', 'messageId', ids) };
    case 'step:save':
      return { ...input, steps: eachWithId(input, 'steps', 'stepId', ids) };
    default:
      return input;
  }
}

/** What is no list, or holds what is no object, is for the schema to refuse. */
function eachWithId(input: object, list: string, key: string, ids: IdSource): unknown {
  const given: unknown = (input as Record<string, unknown>)[list];
  if (!Array.isArray(given)) return given;
  return given.map((one: unknown) => (isJsonObject(one) ? { [key]: ids.id(), ...definedOf(one) } : one));
}

function isRepeatable(name: SocketCommandName, args: Record<string, unknown>): boolean {
  switch (name) {
    case 'turn:stop':
      return args['requestId'] !== undefined;
    case 'turn:resume':
      return args['requestId'] !== undefined && args['attempt'] !== undefined;
    case 'typing':
    case 'auth:refresh':
      return false;
    default:
      return true;
  }
}
