import type { AttemptKey } from '../../ports/journal.js';

interface Segment {
  /** Attempts with entries here that are not forgotten: they pin the segment. */
  readonly live: Set<AttemptKey>;
  /** Forgotten attempts with entries here whose marker stands in another segment. */
  readonly leftovers: Set<AttemptKey>;
  /** Attempts whose marker stands here and whose entries stand (also) elsewhere. */
  readonly markers: Set<AttemptKey>;
}

/** What forgetting calls for: segments to delete, and markers to write to the current one. */
export interface Release {
  readonly segments: readonly number[];
  readonly markers: readonly AttemptKey[];
}

/**
 * Which segment is needed by whom; knows no file. A segment goes as soon as every attempt with entries in it is forgotten,
 * whatever its age, so that one long turn does not keep those after it. A marker that goes with its segment while entries
 * that it forgets stay elsewhere is written again.
 */
export class Retention {
  readonly #segments = new Map<number, Segment>();
  readonly #segmentsOf = new Map<AttemptKey, number[]>();
  /** Forgotten attempts → in how many segments they are a leftover. */
  readonly #leftovers = new Map<AttemptKey, number>();

  constructor(private current: number) {}

  /** How many attempts are live. */
  get live(): number {
    return this.#segmentsOf.size;
  }

  /** How many segments are kept, the current one included once it holds something. */
  get segments(): number {
    return this.#segments.size;
  }

  /** An entry of the attempt goes to the current segment; true where it begins the attempt. */
  add(attempt: AttemptKey): boolean {
    return this.restore(attempt, this.current);
  }

  /** An entry of the attempt stands in this segment. Segments come in ascending order. */
  restore(attempt: AttemptKey, segment: number): boolean {
    const segments = this.#segmentsOf.get(attempt);
    if (segments?.at(-1) === segment) return false;
    this.#segment(segment).live.add(attempt);
    if (segments) segments.push(segment);
    else {
      this.#segmentsOf.set(attempt, [segment]);
      // Should a forgotten attempt begin anew, its old marker written again would forget the new one.
      this.#leftovers.delete(attempt);
    }
    return !segments;
  }

  /** These segments stay and hold entries of an attempt forgotten in an earlier life; answers whose marker to write again. */
  restoreForgotten(attempt: AttemptKey, segments: readonly number[]): readonly AttemptKey[] {
    return this.#mark(attempt, segments);
  }

  has(segment: number): boolean {
    return this.#segments.has(segment);
  }

  forget(attempt: AttemptKey): Release {
    const segments = this.#segmentsOf.get(attempt);
    if (!segments) return { segments: [], markers: [] };
    this.#segmentsOf.delete(attempt);
    for (const segment of segments) this.#segments.get(segment)?.live.delete(attempt);
    const gone = segments.filter((segment) => this.#isFree(segment));
    const dropped = this.#drop(gone);
    const marked = this.#mark(
      attempt,
      segments.filter((segment) => !gone.includes(segment)),
    );
    return { segments: gone, markers: [...marked, ...dropped] };
  }

  /** Entries go to this segment from now on. */
  rotate(current: number): Release {
    const before = this.current;
    this.current = current;
    const gone = this.#isFree(before) ? [before] : [];
    return { segments: gone, markers: this.#drop(gone) };
  }

  /** Nothing is live and the current segment is empty again. */
  reset(): void {
    this.#segments.clear();
    this.#leftovers.clear();
  }

  #segment(number: number): Segment {
    const known = this.#segments.get(number);
    if (known) return known;
    const segment: Segment = { live: new Set(), leftovers: new Set(), markers: new Set() };
    this.#segments.set(number, segment);
    return segment;
  }

  #isFree(segment: number): boolean {
    return segment !== this.current && (this.#segments.get(segment)?.live.size ?? 0) === 0;
  }

  /** The marker of an attempt goes to the current segment, for the sake of entries that stay in these. */
  #mark(attempt: AttemptKey, segments: readonly number[]): AttemptKey[] {
    if (segments.length === 0) return [];
    // In the current segment entries and marker come and go together.
    const elsewhere = segments.filter((segment) => segment !== this.current);
    for (const segment of elsewhere) this.#segment(segment).leftovers.add(attempt);
    if (elsewhere.length > 0) {
      this.#leftovers.set(attempt, elsewhere.length);
      this.#segment(this.current).markers.add(attempt);
    }
    return [attempt];
  }

  /** Lets segments go; answers whose markers have to be written again. */
  #drop(numbers: readonly number[]): AttemptKey[] {
    const dropped = numbers.flatMap((number) => this.#segments.get(number) ?? []);
    for (const number of numbers) this.#segments.delete(number);
    for (const attempt of dropped.flatMap((segment) => [...segment.leftovers])) {
      const left = (this.#leftovers.get(attempt) ?? 1) - 1;
      if (left > 0) this.#leftovers.set(attempt, left);
      else this.#leftovers.delete(attempt);
    }
    const again = dropped.flatMap((segment) => [...segment.markers]).filter((attempt) => this.#leftovers.has(attempt));
    for (const attempt of again) this.#segment(this.current).markers.add(attempt);
    return again;
  }
}
