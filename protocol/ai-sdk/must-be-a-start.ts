import { commands as table, type ArgsInput } from '../commands.js';
import { tooLarge } from '../error.js';
import { parse } from '../parse.js';
import { utf8Bytes } from '../text.js';

/** What a message may take beside its JSON. */
const OVERHEAD_BYTES = 512;

/**
 * Whether this can become a turn, as far as it can be seen in it: asked before something is given up for its sake.
 *
 * @param max bytes of a message (DAT-3)
 * @throws {ChatError} `bad_request` with the field, `payload_too_large` for a message beyond the bounds of DAT-3
 */
export function mustBeAStart(args: ArgsInput<'turn:start'>, max: number): void {
  const { input = [] } = parse(table['turn:start'].args, args);
  for (const [index, message] of input.entries())
    if (utf8Bytes(JSON.stringify(message)) + OVERHEAD_BYTES > max)
      throw tooLarge('maxMessageBytes', max, { path: `input.${index}` });
}
