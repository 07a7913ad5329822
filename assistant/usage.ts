import { isJsonObject, type Json, type JsonObject } from '../protocol/index.js';

/** The sum of two token counts: numbers of the same name are added, others are kept. */
export function addUsage(sum: JsonObject | null, usage: Json): JsonObject | null {
  if (!isJsonObject(usage)) return sum;
  const total: Record<string, Json> = { ...sum };
  for (const [name, count] of Object.entries(usage)) {
    if (typeof count !== 'number') continue;
    const before = total[name];
    total[name] = (typeof before === 'number' ? before : 0) + count;
  }
  return total;
}
