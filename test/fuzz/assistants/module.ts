import { Effects, type Throws } from './effects.js';
import { assistantsOf } from './perform.js';
import { treeOf } from './tree.js';

/**
 * What ASSISTANTS names in a server process: the assistants of the tree of FUZZ_TREE that FUZZ_SERVES names. Those of the
 * built package: a frame is one of the package that made it.
 */

const built = new URL('../../../dist/assistant/index.js', import.meta.url).href;
const { defineAssistant } = (await import(built)) as typeof import('../../../assistant/index.js');

const { env } = process;
const effects = new Effects(env['FUZZ_EFFECTS'] as string, JSON.parse(env['FUZZ_THROWS'] as string) as Throws);
const served = (env['FUZZ_SERVES'] as string).split(',');

export default assistantsOf(treeOf(Number(env['FUZZ_TREE'])), { defineAssistant, effects }).filter(({ assistantId }) =>
  served.includes(assistantId),
);
