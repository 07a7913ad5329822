import { isJsonObject, type Json, type Step } from '../../../../protocol/index.js';

/** Under which a step, or what went into it, names what it was for. */
const KEYS = ['name', 'tool', 'toolName', 'model', 'modelId'];
const MAX_NAME = 80;

/** What a step was for, as far as it says so; else what went into it, cut. A delegation is named by the stack below it. */
export function stepName({ type, metadata, input }: Pick<Step, 'type' | 'metadata' | 'input'>): string {
  const named = nameIn(metadata) ?? nameIn(input);
  if (named !== null) return named;
  if (input === null || type === 'delegate' || type === 'input') return '';
  return (typeof input === 'string' ? input : JSON.stringify(input)).slice(0, MAX_NAME);
}

function nameIn(value: Json | null): string | null {
  if (!isJsonObject(value)) return null;
  for (const key of KEYS) {
    const name = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof name === 'string' && name !== '') return name.slice(0, MAX_NAME);
  }
  return null;
}
