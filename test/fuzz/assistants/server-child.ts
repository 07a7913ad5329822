import { defineAssistant } from '../../../assistant/index.js';
import { Effects, type Throws } from './effects.js';
import { assistantsOf } from './perform.js';
import { treeOf } from './tree.js';

/** What ASSISTANTS names in a server process (see compiledModule): the assistants of FUZZ_TREE that FUZZ_SERVES names. */

const { env } = process;
const effects = new Effects(env['FUZZ_EFFECTS'] as string, JSON.parse(env['FUZZ_THROWS'] as string) as Throws);
const served = (env['FUZZ_SERVES'] as string).split(',');

export default assistantsOf(treeOf(Number(env['FUZZ_TREE'])), { defineAssistant, effects }).filter(({ assistantId }) =>
  served.includes(assistantId),
);
