import { HANDLED, type OpInput } from '../protocol/index.js';
import type { Scope } from './scope.js';

// Which failed steps were dealt with (TRN-9). When a step fails nobody knows yet whether its caller goes on; it shows in
// what the caller does next, and where the error comes out.

const mark = (stepId: string, handled: boolean): OpInput => ({
  op: 'step.end',
  stepId,
  status: 'failed',
  metadata: { [HANDLED]: handled },
});

/** Whoever goes on after failed steps has dealt with them: they are not run again. @returns what says so */
export function goneOnAfter(scope: Scope): OpInput[] {
  const ops = [...scope.failed.keys()].map((stepId) => mark(stepId, true));
  for (const [stepId, error] of scope.failed) scope.passed.set(stepId, error);
  scope.failed.clear();
  return ops;
}

/** It was only a parallel branch that went on where what a failed step threw comes out above. @returns what takes the mark back */
export function thrownOn(scope: Scope, error: unknown): OpInput[] {
  const reasons = reasonsOf(error);
  const wrong = [...scope.passed].filter(([, thrown]) => reasons.has(thrown)).map(([stepId]) => stepId);
  for (const stepId of wrong) scope.passed.delete(stepId);
  return wrong.map((stepId) => mark(stepId, false));
}

/** An error and what it was made of: what was caught and is thrown on within another one was not dealt with. */
function reasonsOf(error: unknown): ReadonlySet<unknown> {
  const reasons = new Set([error]);
  for (const reason of reasons) {
    if (reason instanceof Error && reason.cause !== undefined) reasons.add(reason.cause);
    if (reason instanceof AggregateError) for (const inner of reason.errors as unknown[]) reasons.add(inner);
  }
  return reasons;
}
