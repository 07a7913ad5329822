import * as z from 'zod';

/**
 * A place in a chat's live log. An offset alone lies once the log was lost and begun anew: two lives of a log can both
 * have an offset 17. The epoch names the life.
 */
export const position = z.object({ epoch: z.string().min(1).max(64), offset: z.int().min(0) });
export type Position = z.infer<typeof position>;

/** `<epoch>:<offset>`, the form of SSE ids and of `?position=`. */
export const positionText = (at: Position): string => `${at.epoch}:${at.offset}`;

/** The position in a text made by {@link positionText}, or null. */
export function parsePosition(text: string): Position | null {
  const match = /^([^:]{1,64}):(\d{1,15})$/.exec(text);
  return match ? { epoch: match[1] as string, offset: Number(match[2]) } : null;
}
