import { z } from 'zod';
import { ChatError, commands, ERRORS, parse, type CommandName, type SubscribeResult } from '../../protocol/index.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { ChatDesk, DeskCommand } from '../session/desk/chat-desk.js';
import type { Identity } from '../session/identity.js';
import type { Subscriber } from '../session/subscriber.js';

/**
 * From raw arguments to a result, the same for sockets and HTTP: parse by the command table, count, run. It rejects with
 * nothing but ChatErrors; what was unforeseen is logged and becomes `internal`.
 */
export interface Dispatch {
  command(name: DeskCommand, identity: Identity, args: unknown): Promise<unknown>;
  subscribe(identity: Identity, args: unknown, subscriber: Subscriber): Promise<Following>;
}

/** A chat that is being followed, and how to end that. */
export interface Following {
  readonly result: SubscribeResult;
  readonly unsubscribe: () => void;
}

export interface DispatchNeeds {
  readonly desk: ChatDesk;
  readonly metrics: Metrics;
  readonly log: Log;
}

export function createDispatch({ desk, metrics, log }: DispatchNeeds): Dispatch {
  async function counted<T>(name: CommandName, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      metrics.commands.inc({ command: name, outcome: 'ok' });
      return result;
    } catch (thrown) {
      const error = asChatError(thrown, log, { command: name });
      metrics.commands.inc({ command: name, outcome: error.code });
      throw error;
    }
  }
  return {
    command: (name, identity, args) =>
      counted(name, async () => desk.run(name, identity, parse(commands[name].args, args ?? {}) as never, args)),
    subscribe: (identity, args, subscriber) =>
      counted('chat:subscribe', async () =>
        desk.subscribe(identity, parse(commands['chat:subscribe'].args, args ?? {}), subscriber),
      ),
  };
}

/** Any thrown value as the one error class. What nobody foresaw is logged here, and only its code goes out. */
export function asChatError(thrown: unknown, log: Log, context: Record<string, unknown>): ChatError {
  if (thrown instanceof ChatError) {
    if (thrown.code === 'internal' || ERRORS[thrown.code].status === 503)
      log.warn({ ...context, err: thrown }, 'command refused');
    return thrown;
  }
  if (thrown instanceof z.ZodError) return new ChatError('bad_request', undefined, { cause: thrown });
  log.error({ ...context, err: thrown }, 'command failed');
  return new ChatError('internal', undefined, { cause: thrown });
}
