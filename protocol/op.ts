import * as z from 'zod';
import { agentMadeId, assistantId, id } from './ids.js';
import { isForbiddenKey, json, jsonObject } from './json.js';
import { messageType, role, spokenMetadata } from './message.js';
import { normalPath, parsePath, PathFault } from './path.js';
import { givenStepMetadata, stepType } from './step.js';
import { wellFormed } from './text.js';

/** A path into props, checked, well-formed and without a leading `props.`. */
const path = z
  .string()
  .max(4096)
  .transform((text, context) => {
    try {
      const normal = wellFormed(normalPath(text));
      parsePath(normal);
      return normal;
    } catch (error) {
      if (!(error instanceof PathFault)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });

const somewhere = path.refine((text) => text !== '', { error: 'expected a path' });
const name = z.string().min(1).max(200).transform(wellFormed);
const spaceKey = name.refine((key) => !isForbiddenKey(key), { error: 'this key is not allowed' });

/**
 * What an assistant does to its turn, one by one (section 6). Text in `append` is kept as it came: a lone half of a pair
 * may be completed by the next append (DAT-1).
 */
export const op = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('send'),
    messageId: agentMadeId.optional(),
    type: messageType,
    props: jsonObject,
    role: role.optional(),
    blockId: id.nullable().optional(),
    threadId: id.nullable().optional(),
    /** null: of no step, whatever is open. */
    stepId: agentMadeId.nullable().optional(),
    /** Messages of this turn's earlier attempts, of no step, that this one replaces: they are deleted. */
    replaces: z.array(id).max(100).optional(),
    metadata: spokenMetadata.optional(),
  }),
  z.object({ op: z.literal('append'), messageId: id, text: z.string(), path: path.optional() }),
  z.object({ op: z.literal('replace'), messageId: id, type: messageType.optional(), props: jsonObject }),
  z.object({ op: z.literal('merge'), messageId: id, path: path.optional(), value: json }),
  z.object({ op: z.literal('set'), messageId: id, path: somewhere, value: json }),
  z.object({ op: z.literal('end'), messageId: id }),
  z.object({
    op: z.literal('step.start'),
    stepId: agentMadeId,
    type: stepType,
    input: json.optional(),
    stackId: agentMadeId.optional(),
    stackParentId: agentMadeId.nullable().optional(),
    assistantId: assistantId.optional(),
    metadata: givenStepMetadata.optional(),
  }),
  z.object({
    op: z.literal('step.end'),
    stepId: agentMadeId,
    status: z.enum(['completed', 'failed', 'interrupted']),
    output: json.optional(),
    error: json.optional(),
    metadata: givenStepMetadata.optional(),
  }),
  z.object({ op: z.literal('space.set'), key: spaceKey, value: json }),
  z.object({ op: z.literal('space.delete'), key: spaceKey }),
  /** Ends a call of this frame whose answer is not wanted any more: interrupted. One that has ended stays as it is. */
  z.object({ op: z.literal('delegate.end'), stackId: agentMadeId }),
  z.object({ op: z.literal('signal'), name, data: json }),
]);
export type Op = z.infer<typeof op>;
/** An op as its author writes it. */
export type OpInput = z.input<typeof op>;
