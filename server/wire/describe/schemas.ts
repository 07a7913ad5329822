import * as z from 'zod';
import {
  chat,
  chatEvent,
  errorBody,
  inputMessage,
  isoTime,
  jsonObject,
  message,
  op,
  step,
  turn,
  turnError,
  turnInput,
} from '../../../protocol/index.js';

/** JSON Schema as the two descriptions hold it. */
export type JsonSchema = Record<string, unknown>;
/** Whether a schema is of what a caller writes or of what the server says. */
export type Side = 'input' | 'output';
/** OpenAPI 3.1 speaks the 2020-12 draft, AsyncAPI 3.0 speaks draft 7. */
export type Draft = 'draft-2020-12' | 'draft-7';

interface Component {
  readonly schema: z.ZodType;
  readonly side: Side;
}

/** What has a name of its own in the descriptions. */
const components: Readonly<Record<string, Component>> = {
  Chat: { schema: chat, side: 'output' },
  Message: { schema: message, side: 'output' },
  Turn: { schema: turn, side: 'output' },
  Step: { schema: step, side: 'output' },
  ChatEvent: { schema: chatEvent, side: 'output' },
  Error: { schema: errorBody, side: 'output' },
  InputMessage: { schema: inputMessage, side: 'input' },
  Op: { schema: op, side: 'input' },
};

const names = new Map<unknown, string>(Object.entries(components).map(([name, { schema }]) => [schema, name]));

export const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The named schemas. */
export function componentSchemas(draft: Draft): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components).map(([name, { schema, side }]) => [name, jsonSchema(schema, side, draft)]),
  );
}

/**
 * A zod schema as JSON Schema, with references to the named ones.
 *
 * Objects of the server are left open: clients ignore fields that they do not know (section 5).
 */
export function jsonSchema(schema: z.ZodType, side: Side, draft: Draft): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io: side,
    target: draft,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: target, path }) {
      const name = path.length > 0 ? names.get(zodSchema) : undefined;
      const replacement = name === undefined ? ownForm(zodSchema, side) : reference(name);
      if (replacement) {
        for (const key of Object.keys(target)) delete target[key];
        Object.assign(target, replacement);
      }
      if (target.additionalProperties === false) delete target.additionalProperties;
    },
  });
  return made;
}

/** What zod cannot say of a schema, because a transform or a check of our own stands in it. */
function ownForm(schema: z.core.$ZodTypes, side: Side): JsonSchema | null {
  const is = (candidate: z.ZodType): boolean => candidate === (schema as unknown);
  if (is(jsonObject)) return { type: 'object' };
  if (is(isoTime)) return { type: 'string', format: 'date-time' };
  if (is(turnInput))
    return {
      anyOf: [
        reference('InputMessage'),
        { type: 'array', minItems: 1, maxItems: 100, items: reference('InputMessage') },
      ],
    };
  if (is(turnError) && side === 'output') return turnErrorForm;
  return side === 'output' ? cleanedText(schema) : null;
}

const turnErrorForm: JsonSchema = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
};

/** Text that a transform makes well-formed (DAT-1) is still a text of the same bounds. */
function cleanedText({ _zod: { def } }: z.core.$ZodTypes): JsonSchema | null {
  if (def.type !== 'pipe' || def.out._zod.def.type !== 'transform') return null;
  const from = def.in;
  if (!(from instanceof z.ZodString)) return null;
  const { $schema: _, ...text } = z.toJSONSchema(from);
  return text;
}
