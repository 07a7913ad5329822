import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json, JsonObject } from '../protocol/index.js';

/**
 * Where what an assistant does now belongs: an open step, or the frame itself. It follows the calls of the code that runs,
 * through awaits and parallel branches (docs/decisions/0051-scopes.md), so that a message goes to the step that sends it
 * and parallel steps never take each other's.
 */
export class Scope {
  /** Steps begun directly below. */
  begun = 0;
  /** Steps directly below that failed, with what they threw: nobody knows yet whether their caller goes on. */
  readonly failed = new Map<string, unknown>();
  /** Failed ones whose caller seems to have gone on. */
  readonly passed = new Map<string, unknown>();
  /** Tokens used in the step, and in those below that have ended. */
  usage: JsonObject | null = null;
  /** What the step and those below that have ended wrote to the space, last value by key; undefined: deleted. */
  readonly wrote = new Map<string, Json | undefined>();

  constructor(
    /** Whose scope it is: scopes of a caller are around those of what it calls in the same process. */
    readonly frame: object,
    /** null in the frame itself. */
    readonly stepId: string | null,
    /** Place among the calls: `2.1` is the first step within the second; empty for the frame. */
    readonly path: string,
  ) {}

  /** The place of the next step below: the same in every attempt of the same code. */
  nextPath(): string {
    this.begun += 1;
    return this.path === '' ? String(this.begun) : `${this.path}.${this.begun}`;
  }
}

const scopes = new AsyncLocalStorage<Scope>();

/** Whose code runs, where it is an assistant's. */
export const runningFrame = (): object | undefined => scopes.getStore()?.frame;

/** Runs code within a scope. */
export const within = <T>(scope: Scope, run: () => T): T => scopes.run(scope, run);

/** The scope of the code that runs; `root` outside every step of its frame. */
export function scopeOf(root: Scope): Scope {
  const scope = scopes.getStore();
  return scope?.frame === root.frame ? scope : root;
}
