import type { Span } from './turn-story.js';

interface Tick {
  /** From 0 to 1. */
  readonly at: number;
  readonly text: string;
}

/** Puts times on a line from 0 to 1. */
export interface TimeScale {
  /** Where a time stands; what is outside stands at the nearer end. */
  at(time: number): number;
  readonly ticks: readonly Tick[];
  /** Where idle time was left out, with how long it was, milliseconds. */
  readonly breaks: readonly { readonly at: number; readonly ms: number }[];
  /** What is shown in all, milliseconds. */
  readonly ms: number;
}

/** Idle time is left out where it is longer than this, and than all that was busy. */
const MIN_BREAK_MS = 2_000;
const MAX_TICKS = 3;

interface Piece {
  readonly from: number;
  readonly to: number;
  /** Busy time before it. */
  readonly before: number;
}

/**
 * A scale on which spans stand in proportion. Long idle time between them (a turn that was resumed the next day) is left
 * out: it would press all the rest to nothing.
 *
 * @param now the end of what still runs
 */
export function timeScale(spans: readonly Span[], now: number): TimeScale {
  const pieces = piecesOf(spans.map(({ from, to }) => ({ from, to: Math.max(from, to ?? now) })));
  const last = pieces.at(-1);
  const total = Math.max(1, last ? last.before + last.to - last.from : 0);
  const at = (time: number): number => {
    const piece = pieces.findLast(({ from }) => from <= time);
    return piece ? (piece.before + Math.min(time, piece.to) - piece.from) / total : 0;
  };
  const step = tickStep(total);
  const ticks: Tick[] = [];
  for (let ms = 0; ms <= total; ms += step) ticks.push({ at: ms / total, text: durationText(ms) });
  const breaks = pieces.slice(1).map((piece, index) => ({
    at: piece.before / total,
    ms: piece.from - (pieces[index]?.to ?? piece.from),
  }));
  return { at, ticks, breaks, ms: total };
}

function piecesOf(spans: readonly { readonly from: number; readonly to: number }[]): readonly Piece[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  const busy = merged.reduce((sum, { from, to }) => sum + to - from, 0);
  const pieces: Piece[] = [];
  for (const { from, to } of merged) {
    const last = pieces.at(-1);
    if (last && from - last.to <= Math.max(MIN_BREAK_MS, busy)) pieces[pieces.length - 1] = { ...last, to };
    else pieces.push({ from, to, before: last ? last.before + last.to - last.from : 0 });
  }
  return pieces;
}

/** 1, 2 or 5 times a power of ten milliseconds, so that there are few ticks. */
function tickStep(total: number): number {
  let unit = 1;
  for (;;) {
    for (const factor of [1, 2, 5]) if (total / (unit * factor) <= MAX_TICKS) return unit * factor;
    unit *= 10;
  }
}

/** `840 ms`, `1.5 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1_000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes >= 60) return `${trimmed(ms / 3_600_000)} h`;
  const seconds = Math.round((ms % 60_000) / 1_000);
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}

const trimmed = (value: number): string => String(Number(value.toFixed(value < 10 ? 2 : 1)));
