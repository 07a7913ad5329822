import type { ChatCommands } from '../../../protocol/index.js';
import type { Caller } from '../caller.js';
import type { Dispatch } from '../dispatch.js';

/** The table of commands for one caller. The table gives each its result; dispatch is the same for all of them. */
export const commandsOf = (dispatch: Pick<Dispatch, 'command'>, caller: Caller): ChatCommands => ({
  call: async (name, args) => (await dispatch.command(name, caller, args)) as never,
});
