import * as z from 'zod';
import { connectInput, runAgentInput, stopInput } from '../../../protocol/ag-ui/index.js';
import { assistantId, commands as table } from '../../../protocol/index.js';
import type { FrontendRoute } from '../http/frontend-route.js';

const ROOT = '/v1/ag-ui';
const STREAM = 'The events of AG-UI, one `data` line each. The id is the place in the log, `<epoch>:<offset>`.';

const deeds = {
  connect: {
    operationId: 'agUiConnect',
    summary: 'Joins the run that is under way, or shows the conversation.',
    suffix: '/connect',
    body: connectInput,
    answer: STREAM,
  },
  stop: {
    operationId: 'agUiStop',
    summary: 'Stops a run.',
    suffix: '/stop',
    body: stopInput,
    answer: table['turn:stop'].result,
  },
  run: {
    operationId: 'agUiRun',
    summary: 'Runs as a client of AG-UI asks: says what the chat does not know yet, and tells the turn that answers.',
    suffix: '',
    body: runAgentInput,
    answer: STREAM,
  },
} as const;
export type AgUiDeed = keyof typeof deeds;

/** Where an assistant is named by the path, and where not. The first are looked at first. */
const roots = [
  { root: ROOT, args: z.object({}), name: '' },
  { root: `${ROOT}/:assistantId`, args: z.object({ assistantId }), name: 'Of' },
] as const;

/** The routes of AG-UI, as OpenAPI tells of them, each with what it does. */
export const AG_UI_ROUTES: readonly (FrontendRoute & { readonly deed: AgUiDeed })[] = roots.flatMap(
  ({ root, args, name }) =>
    (Object.keys(deeds) as AgUiDeed[]).map((deed) => {
      const { suffix, operationId, ...said } = deeds[deed];
      return {
        ...said,
        deed,
        operationId: `${operationId}${name}`,
        tag: 'ag-ui',
        method: 'post',
        path: `${root}${suffix}`,
        args,
      };
    }),
);
