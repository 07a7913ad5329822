import type * as z from 'zod';
import { agentCommands, commands, parse, type CommandName, type SubscribeResult } from '../../protocol/index.js';
import { nextTick, pause, type Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { AgentConnection } from '../session/attached-agent.js';
import type { AgentDesk, AgentDeskCommand } from '../session/desk/agent-desk.js';
import type { ChatDesk, DeskCommand } from '../session/desk/chat-desk.js';
import type { Subscriber } from '../session/subscriber.js';
import { asChatError } from './as-chat-error.js';
import type { AuditLog } from './audit-log.js';
import type { Caller, Provenance } from './caller.js';

/**
 * From raw arguments to a result, the same for sockets and HTTP: parse by the command table, run, count, audit. It rejects
 * with nothing but ChatErrors; what was unforeseen is logged and becomes `internal`.
 */
export interface Dispatch {
  command(name: DeskCommand, caller: Caller, args: unknown): Promise<unknown>;
  subscribe(caller: Caller, args: unknown, subscriber: Subscriber): Promise<Following>;
  /** `typist` names the connection. */
  typing(caller: Caller, args: unknown, typist: object): Promise<unknown>;
  /** Ops are applied before it first waits. */
  agent(name: AgentDeskCommand, connection: AgentConnection, from: Provenance, args: unknown): Promise<unknown>;
}

/** A chat that is being followed, and how to end that. */
export interface Following {
  readonly result: SubscribeResult;
  readonly unsubscribe: () => void;
}

export interface DispatchNeeds {
  readonly desk: ChatDesk;
  readonly agentDesk: AgentDesk;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * CMD-1: `not_found` is told at full multiples of this time after the question, milliseconds. To look for what there is
 * not takes another time than to look at what the caller may not see; so close, nobody can tell the two apart.
 */
const NOT_FOUND_STEP_MS = 10;

export function createDispatch({ desk, agentDesk, audit, metrics, clock, log }: DispatchNeeds): Dispatch {
  async function run<A, R>(
    name: CommandName | AgentDeskCommand,
    { args: schema, audited }: { readonly args: z.ZodType<A>; readonly audited: boolean },
    caller: Caller,
    sent: unknown,
    work: (args: A) => Promise<R>,
  ): Promise<R> {
    const began = clock.monotonic();
    let args: A | undefined;
    try {
      args = parse(schema, sent ?? {});
      const result = await work(args);
      metrics.commands.inc({ command: name, outcome: 'ok' });
      if (audited) audit.command(name, caller, 'ok', args, result);
      return result;
    } catch (thrown) {
      const error = asChatError(thrown, log, { command: name });
      metrics.commands.inc({ command: name, outcome: error.code });
      // What cannot be read was not tried.
      if (audited && args !== undefined) audit.command(name, caller, error.code, args);
      if (error.code === 'not_found') await untilNextStep(clock, began);
      throw error;
    }
  }
  return {
    command: (name, caller, sent) =>
      run<unknown, unknown>(name, commands[name], caller, sent, (args) =>
        desk.run(name, caller.identity, args as never, sent),
      ),
    subscribe: (caller, sent, subscriber) =>
      run('chat:subscribe', commands['chat:subscribe'], caller, sent, (args) =>
        desk.subscribe(caller.identity, args, subscriber),
      ),
    typing: (caller, sent, typist) =>
      run('typing', commands.typing, caller, sent, async (args) => {
        await desk.typing(caller.identity, args, typist);
        return {};
      }),
    agent: (name, connection, from, sent) =>
      run<unknown, unknown>(name, agentCommands[name], { identity: connection.identity, from }, sent, (args) =>
        agentDesk.run(name, connection, args as never),
      ),
  };
}

async function untilNextStep(clock: Clock, began: number): Promise<void> {
  const steps = 1 + Math.floor((clock.monotonic() - began) / NOT_FOUND_STEP_MS);
  const due = began + steps * NOT_FOUND_STEP_MS;
  // Timers count whole milliseconds, and what they round would tell how long the search took: the last one goes by ticks
  // of the event loop.
  const restMs = Math.floor(due - clock.monotonic()) - 1;
  if (restMs > 0) await pause(clock, restMs);
  while (clock.monotonic() < due) await nextTick(clock);
}
