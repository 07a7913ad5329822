import { cleanJson, jsonDepth, MAX_JSON_DEPTH, type Json } from '../../../protocol/index.js';

/** What a text of JSON holds, and whether that is all it says. */
export type ReadJson =
  | {
      readonly isExact: true;
      readonly value: Json;
      /** Whether characters that no text may hold have become U+FFFD in it. */
      readonly isMended: boolean;
    }
  /** `reason`: why reading it loses something; null where it is no JSON. */
  | { readonly isExact: false; readonly value: null; readonly reason: string | null };

/** Levels that a message has around what was read: `metadata.yao.around` is the deepest place. */
const AROUND = 8;

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Reads JSON where nothing of it is lost on the way: a number of too many digits, a key that could reach a prototype or
 * that stands twice, or a nesting that no message may have, makes it a text.
 */
export function readJson(text: string): ReadJson {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { isExact: false, value: null, reason: null };
  }
  try {
    const value = cleanJson(parsed);
    if (jsonDepth(value) > MAX_JSON_DEPTH - AROUND) return inexact('it is nested too deep');
    const form = text.replace(STRING, '""');
    if (!hasExactNumbers(form)) return inexact('a number in it has more digits than JSON programs keep');
    if ((form.match(/""\s*:/g)?.length ?? 0) !== keysOf(value)) return inexact('a key stands twice in it');
    return { isExact: true, value, isMended: JSON.stringify(value) !== JSON.stringify(parsed) };
  } catch (error) {
    return inexact((error as Error).message);
  }
}

const inexact = (reason: string): ReadJson => ({ isExact: false, value: null, reason });

/** @param form JSON whose strings are empty */
const hasExactNumbers = (form: string): boolean =>
  (form.match(NUMBER) ?? []).every((literal) => {
    const number = Number(literal);
    if (/^-?\d+$/.test(literal)) return Number.isSafeInteger(number);
    return significant(literal).length <= 15 && Number.isFinite(number);
  });

/** The digits that say something: `1.500e3` has two. */
const significant = (literal: string): string =>
  (literal.split(/[eE]/)[0] ?? '').replace(/[-.]/g, '').replace(/^0+|0+$/g, '');

function keysOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, inner) => sum + keysOf(inner), 0);
  return Object.values(value as Record<string, Json>).reduce<number>((sum, inner) => sum + 1 + keysOf(inner), 0);
}
