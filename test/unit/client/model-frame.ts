import type { Op } from '../../../protocol/index.js';
import type { Sent } from './fake-transport.js';

/** An append of this text is refused by the model. */
export const BAD = 'bad';

/** One frame as the server keeps it: ops in order, each applied once (AGT-1, AGT-2). */
export class ModelFrame {
  readonly applied: string[] = [];
  lastSeq = 0;
  closed: Record<string, unknown> | null = null;
  /** Whether refusals name the guilty op. */
  namesIndex = true;

  serve(sent: Sent): void {
    const { args } = sent;
    const seq = Number(args['seq']);
    if (sent.command === 'turn:close') return this.#close(sent, seq);
    const ops = args['ops'] as Op[];
    const texts = ops.map((op) => (op.op === 'append' ? op.text : op.op));
    if (seq <= this.lastSeq) return sent.ok({ seq });
    if (seq !== this.lastSeq + 1) return sent.refuse('seq_gap', { details: { expected: this.lastSeq + 1 } });
    const index = texts.indexOf(BAD);
    if (index >= 0) return sent.refuse('bad_request', { details: this.namesIndex ? { index } : {} });
    this.lastSeq = seq;
    this.applied.push(...texts);
    sent.ok({ seq });
  }

  #close(sent: Sent, seq: number): void {
    if (seq > this.lastSeq + 1) return sent.refuse('seq_gap', { details: { expected: this.lastSeq + 1 } });
    this.closed ??= sent.args;
    this.lastSeq = Math.max(this.lastSeq, seq);
    sent.ok({ turn: { requestId: sent.args['requestId'] }, persisted: true });
  }
}
