import { cleanJson, jsonDepth, JsonFault, type Json } from '../protocol/index.js';

/**
 * A copy as JSON that nobody else holds, with well-formed text (DAT-1).
 *
 * @param refusal the error of the room, of the reason
 * @param maxDepth levels that it may have: less than a message may where more stands around it there. Default: any.
 * @throws what `refusal` gives, for what JSON has no word for and for what is nested too deep
 */
export function cleanCopy(
  value: unknown,
  refusal: (reason: string, cause?: JsonFault) => Error,
  maxDepth = Infinity,
): Json {
  const copy = copyOf(value, refusal);
  if (maxDepth < Infinity && jsonDepth(copy) > maxDepth) throw refusal(`nested deeper than ${maxDepth} levels`);
  return copy;
}

function copyOf(value: unknown, refusal: (reason: string, cause: JsonFault) => Error): Json {
  try {
    return cleanJson(value);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const place = error.path.join('.');
    throw refusal(place === '' ? error.message : `${place}: ${error.message}`, error);
  }
}
