import * as z from 'zod';
import {
  assignment,
  chat,
  chatEvent,
  inputMessage,
  json,
  jsonObject,
  message,
  position,
  presentUser,
  step,
  stepSummary,
  turn,
  turnError,
  turnInput,
} from '../protocol/index.js';

type Side = 'input' | 'output';

/** Schemas that have a name of their own in the text of the protocol. */
const NAMES = new Map<unknown, string>([
  [assignment, 'Assignment'],
  [chat, 'Chat'],
  [message, 'Message'],
  [turn, 'Turn'],
  [step, 'Step'],
  [stepSummary, 'StepSummary'],
  [chatEvent, 'ChatEvent'],
  [position, 'Position'],
  [presentUser, 'PresentUser'],
  [inputMessage, 'InputMessage'],
  [turnInput, 'InputMessage | InputMessage[]'],
  [turnError, 'TurnError'],
  [jsonObject, 'object'],
  [json, 'any JSON'],
]);

interface JsonSchema {
  readonly $name?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
}

/** A schema in one line, as a person would write it: `{chatId, limit? = 50, scope?: "mine" | "team"}`. */
export function shapeText(schema: z.ZodType, side: Side): string {
  const made = z.toJSONSchema(schema, {
    io: side,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }) {
      const name = NAMES.get(zodSchema);
      if (name === undefined || (path.length === 0 && zodSchema !== assignment)) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, { $name: name });
    },
  });
  return typeText(made as JsonSchema);
}

function typeText(schema: JsonSchema): string {
  if (schema.$name !== undefined) return schema.$name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return unionText(schema.anyOf);
  if (schema.type === 'array') return arrayText(schema.items ?? {});
  if (schema.type === 'object' && schema.properties) return objectText(schema);
  return schema.type === undefined ? 'any JSON' : [schema.type].flat().join(' | ');
}

const unionText = (members: readonly JsonSchema[]): string => [...new Set(members.map(typeText))].join(' | ');

function arrayText(items: JsonSchema): string {
  const text = typeText(items);
  return text.includes(' | ') ? `(${text})[]` : `${text}[]`;
}

function objectText({ properties = {}, required = [] }: JsonSchema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required.includes(name) || schema.default !== undefined;
    const fallback = schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`;
    return `${name}${isOptional ? '?' : ''}${fieldText(name, schema)}${fallback}`;
  });
  return `{${fields.join(', ')}}`;
}

/** The type of a field, left out where its name says it. */
function fieldText(name: string, schema: JsonSchema): string {
  const text = typeText(schema);
  const isPlain = text === 'string' || text === 'integer' || text === 'boolean' || text.toLowerCase() === name;
  return isPlain ? '' : `: ${text}`;
}
