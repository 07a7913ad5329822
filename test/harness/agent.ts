import type { Socket } from 'socket.io-client';
import type { AgentResult, Ack, Assignment, OpInput, TurnAbort } from '../../protocol/index.js';
import { Peer, uid, type As } from './peer.js';
import { until } from './until.js';

/** One frame in a raw agent's hands, numbered as AGT-1 says. */
export class Run {
  seq: number;

  constructor(
    readonly agent: Agent,
    readonly requestId: string,
    readonly attempt: number,
    readonly stackId: string,
    readonly assignment: Assignment | null,
    lastSeq = 0,
  ) {
    this.seq = lastSeq;
  }

  get frame() {
    return { requestId: this.requestId, attempt: this.attempt, stackId: this.stackId };
  }

  push(...ops: OpInput[]): Promise<{ seq: number }> {
    return this.agent.do('turn:push', { ...this.frame, seq: ++this.seq, ops });
  }

  /** Opens a message; gives its id. */
  async send(content = '', more: Record<string, unknown> = {}): Promise<string> {
    const messageId = uid('m');
    await this.push({ op: 'send', messageId, type: 'text', props: { content }, ...more });
    return messageId;
  }

  append(messageId: string, text: string, path?: string): Promise<{ seq: number }> {
    return this.push({ op: 'append', messageId, text, ...(path ? { path } : {}) });
  }

  close(
    status: 'completed' | 'failed' | 'interrupted' = 'completed',
    more: Record<string, unknown> = {},
  ): Promise<AgentResult<'turn:close'>> {
    return this.agent.do('turn:close', { ...this.frame, seq: ++this.seq, status, ...more });
  }

  delegate(
    assistantId: string,
    input: unknown,
    more: Record<string, unknown> = {},
  ): Promise<AgentResult<'turn:delegate'>> {
    return this.agent.do('turn:delegate', { ...this.frame, seq: ++this.seq, assistantId, input, ...more });
  }

  /** The `turn:abort` of this frame, once it came. */
  aborted(): Promise<TurnAbort> {
    return until(
      () =>
        this.agent.aborts.find(
          (abort) =>
            abort.requestId === this.requestId && abort.attempt === this.attempt && abort.stackId === this.stackId,
        ),
      'turn:abort',
    );
  }
}

/** A remote agent that speaks the protocol by hand. */
export class Agent extends Peer {
  readonly runs: Run[] = [];
  readonly aborts: TurnAbort[] = [];
  /** Whether it acknowledges what it is assigned. */
  accepts = true;

  constructor(
    url: string,
    readonly assistants: readonly string[],
    readonly options: { readonly agentId?: string; readonly concurrency?: number; readonly as?: As } = {},
  ) {
    super(url, '/agents', { userId: 'agent', roles: ['agent'], ...options.as });
    this.agentId = options.agentId ?? uid('agent');
  }

  readonly agentId: string;

  protected override listen(socket: Socket): void {
    socket.on('turn:abort', (abort: TurnAbort) => this.aborts.push(abort));
    socket.on('turn:assigned', (assignment: Assignment, ack: (answer: Ack<null>) => void) => {
      this.runs.push(new Run(this, assignment.turn.requestId, assignment.turn.attempt, assignment.stackId, assignment));
      if (this.accepts) ack({ ok: true, data: null });
    });
  }

  attach(): Promise<AgentResult<'agent:attach'>> {
    const { concurrency } = this.options;
    return this.do('agent:attach', {
      agentId: this.agentId,
      assistants: this.assistants.map((assistantId) => ({ assistantId })),
      ...(concurrency ? { concurrency } : {}),
    });
  }

  /** Connects and attaches. */
  async join(): Promise<this> {
    await this.open();
    await this.attach();
    return this;
  }

  /** The run of a turn, once it was assigned here. */
  run(requestId: string, attempt = 1): Promise<Run> {
    return until(
      () => this.runs.find((run) => run.requestId === requestId && run.attempt === attempt),
      `turn:assigned of ${requestId}`,
    );
  }

  async openTurn(args: Record<string, unknown>): Promise<Run> {
    const { turn, attempt, stackId } = await this.do<AgentResult<'turn:open'>>('turn:open', {
      assistantId: this.assistants[0],
      ...args,
    });
    return new Run(this, turn.requestId, attempt, stackId, null);
  }
}
