import { AgUiRun, turnToJoin, type AgUiEvent, type RunOptions } from '../../../protocol/ag-ui/index.js';
import {
  positionText,
  type ChatError,
  type ChatEvent,
  type Position,
  type Signal,
  type StepSummary,
  type SubscribeResult,
} from '../../../protocol/index.js';
import type { TurnForm } from '../http/turn-stream.js';

export interface AgUiFormNeeds {
  /** The turn's run; null: the one that there is to join. */
  readonly requestId: string | null;
  readonly run: Omit<RunOptions, 'requestId'>;
  /** The steps of a turn, as far as the caller may know them. It does not reject. */
  readonly stepsOf: (requestId: string) => Promise<readonly StepSummary[]>;
}

/** A turn as server-sent events of AG-UI: one `data` line each, with the place in the log that it goes back to as `id`. */
export class AgUiForm implements TurnForm {
  readonly namespace = 'ag-ui';
  #run: AgUiRun | null = null;
  #at: Position | null = null;
  /** Until it has begun: what the client has sent may be large. */
  #needs: AgUiFormNeeds | null;

  constructor(needs: AgUiFormNeeds) {
    this.#needs = needs;
  }

  get isOver(): boolean {
    return this.#run?.isOver ?? false;
  }

  async begin(answer: SubscribeResult): Promise<string> {
    const { requestId: named, run, stepsOf } = this.#needs as AgUiFormNeeds;
    this.#needs = null;
    const requestId = named ?? turnToJoin(answer, run.runId)?.requestId ?? null;
    const isRunning = answer.turns?.some((turn) => turn.requestId === requestId && turn.status === 'running');
    const steps = requestId !== null && isRunning ? await stepsOf(requestId) : [];
    this.#at = answer.position;
    this.#run = new AgUiRun({ ...run, requestId });
    return this.#frames(this.#run.begin(answer, steps));
  }

  event(event: ChatEvent): string {
    this.#at = event;
    return this.#frames(this.#run?.event(event) ?? []);
  }

  signal(signal: Signal): string {
    return this.#frames(this.#run?.signal(signal) ?? []);
  }

  again(answer: SubscribeResult): string {
    this.#at = answer.position;
    return this.#frames(this.#run?.again(answer) ?? []);
  }

  cut(error: ChatError): string {
    return this.#frames(this.#run?.cut(error.body()) ?? []);
  }

  #frames(events: readonly AgUiEvent[]): string {
    const id = this.#at === null ? '' : `id: ${positionText(this.#at)}\n`;
    // JSON has no line breaks of its own, so one `data` line holds it.
    return events.map((event) => `${id}data: ${JSON.stringify(event)}\n\n`).join('');
  }
}
