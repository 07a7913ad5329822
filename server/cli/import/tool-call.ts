import { isJsonObject, type Json, type JsonObject } from '../../../protocol/index.js';
import { readJson } from './exact-json.js';
import { restOf, type Part } from './part.js';

const CALLS = new Set(['tool', 'tool_call', 'tool_calls_native', 'tool_use', 'tool-call', 'function', 'function_call']);
const RESULTS = new Set(['tool_result', 'tool-result', 'function_call_output', 'tool_response']);

/** The names under which the APIs of models, and the old system, tell the same things. */
const NAMES = {
  toolCallId: ['toolCallId', 'tool_call_id', 'tool_use_id', 'call_id', 'id'],
  tool: ['tool', 'toolName', 'tool_name', 'name', 'function'],
  input: ['input', 'args', 'arguments'],
  output: ['output', 'result', 'content'],
} as const;

/**
 * A call of a tool, or its result, as tool calls stand in every chat here: `{toolCallId, tool, input, state, output}`. A
 * call and its result that were two pieces stay two messages of one `toolCallId`. Null for what is neither.
 */
export function toolCallOf(value: JsonObject): Part | null {
  const type = typeof value['type'] === 'string' ? value['type'] : 'function';
  const isResult = RESULTS.has(type);
  if (!isResult && !CALLS.has(type)) return null;
  const { fields, hidden } = flattened(value);
  // A tool that is only described is called by nobody.
  const isCall = pick(fields, 'toolCallId') !== undefined || pick(fields, 'input') !== undefined;
  if (!isResult && !isCall && typeof fields['text'] !== 'string') return null;
  return {
    ...toolCall(fields, isResult ? 'output' : 'input'),
    ...(hidden.length === 0 ? {} : { around: hidden }),
    ...(type === 'tool_call' ? {} : { was: type }),
  };
}

/** What a row of the role `tool` or `function` says: all of it is what the tool gave. */
export function toolResultOf(output: Json, tool: string | null, toolCallId: Json | undefined): Part {
  return {
    type: 'tool_call',
    props: {
      ...(typeof toolCallId === 'string' ? { toolCallId } : {}),
      ...(tool === null || tool === '' ? {} : { tool }),
      state: 'completed',
      output,
    },
  };
}

/** Fields that a tool call here has under the same name. */
const OWN = new Set(['state', 'error']);

function toolCall(given: JsonObject, about: 'input' | 'output'): Part {
  const { props, taken } = named(given, about);
  const rest: Record<string, Json> = {};
  for (const [key, value] of Object.entries(given)) {
    if (taken.has(key)) continue;
    if (key === 'text' && typeof value === 'string') props['content'] = value;
    else if (OWN.has(key)) props[key] = value;
    else rest[key] = value;
  }
  if ((about === 'output' || 'output' in props) && !('state' in props))
    props['state'] = given['is_error'] === true ? 'failed' : 'completed';
  return { type: 'tool_call', props, ...(Object.keys(rest).length === 0 ? {} : { rest }) };
}

/** The fields that have a name here, and under which names they stood. */
function named(given: JsonObject, about: 'input' | 'output'): { props: Record<string, Json>; taken: Set<string> } {
  const props: Record<string, Json> = {};
  const taken = new Set<string>();
  for (const name of ['toolCallId', 'tool', 'input', 'output'] as const) {
    const key = pick(given, name);
    // What a call says beside its input is no result of it.
    if (key === undefined || (name === 'output' && about === 'input' && key === 'content')) continue;
    props[name] = name === 'input' ? parsed(given[key] as Json) : (given[key] as Json);
    taken.add(key);
  }
  return { props, taken };
}

/**
 * Without the objects around the fields: `{function: {name, arguments}}` and `{props: {…}}`. What an inner field hides is
 * kept apart.
 */
function flattened(value: JsonObject): { fields: JsonObject; hidden: readonly JsonObject[] } {
  const { type: _type, ...outer } = value;
  const inner = ['function', 'props'].filter((key) => isJsonObject(outer[key]));
  const { rest: outermost = {} } = restOf(outer, inner);
  const fields: Record<string, Json> = {};
  const hidden: JsonObject[] = [];
  for (const layer of [...inner.map((key) => outer[key] as JsonObject), outermost]) {
    const { rest: below } = restOf(
      layer,
      Object.keys(layer).filter((key) => !(key in fields)),
    );
    if (below !== undefined) hidden.push(below);
    Object.assign(fields, restOf(layer, Object.keys(fields)).rest);
  }
  return { fields, hidden };
}

function pick(fields: JsonObject, name: keyof typeof NAMES): string | undefined {
  return NAMES[name].find((key) => (name === 'toolCallId' || name === 'tool' ? isName(fields[key]) : key in fields));
}

const isName = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';

/** Arguments were written as a text of JSON; one that is none stays the text it is. */
function parsed(value: Json): Json {
  if (typeof value !== 'string') return value;
  const read = readJson(value);
  return read.isExact && isJsonObject(read.value) ? read.value : value;
}
