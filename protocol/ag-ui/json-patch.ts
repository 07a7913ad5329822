import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { PatchStep } from './event.js';

/**
 * A JSON Patch (RFC 6902) that makes `after` of `before`; empty where they are equal. What both share by reference is not
 * looked into, so that a change deep in a large value costs what it changes. Elements of an array are compared by their
 * index.
 */
export function patchOf(before: JsonObject, after: JsonObject): PatchStep[] {
  const steps: PatchStep[] = [];
  compareObjects(before, after, '', steps);
  return steps;
}

function compare(before: Json, after: Json, path: string, steps: PatchStep[]): void {
  if (before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) compareObjects(before, after, path, steps);
  else if (Array.isArray(before) && Array.isArray(after)) compareArrays(before, after, path, steps);
  else steps.push({ op: 'replace', path, value: after });
}

function compareObjects(before: JsonObject, after: JsonObject, path: string, steps: PatchStep[]): void {
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) steps.push({ op: 'remove', path: `${path}/${escaped(key)}` });
  for (const [key, value] of Object.entries(after)) {
    const at = `${path}/${escaped(key)}`;
    if (Object.hasOwn(before, key)) compare(before[key] as Json, value, at, steps);
    else steps.push({ op: 'add', path: at, value });
  }
}

function compareArrays(before: readonly Json[], after: readonly Json[], path: string, steps: PatchStep[]): void {
  // From the end, so that each index still means what it says.
  for (let index = before.length - 1; index >= after.length; index--)
    steps.push({ op: 'remove', path: `${path}/${index}` });
  for (const [index, value] of after.entries()) {
    if (index < before.length) compare(before[index] as Json, value, `${path}/${index}`, steps);
    else steps.push({ op: 'add', path: `${path}/${index}`, value });
  }
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
