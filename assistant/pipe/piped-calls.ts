import { HANDLED, type Json, type JsonObject } from '../../protocol/index.js';
import { storable } from '../model/completion.js';
import type { AssistantFrame, RunningStep } from '../frame.js';
import type { CallName, CallSaid } from './said.js';

/** The part of a context that calls are written to. */
export interface CallsContext {
  send(message: { type: string; props: JsonObject }): Promise<string>;
  append(messageId: string, text: string, path: string): Promise<void>;
  replace(messageId: string, message: { type: string; props: JsonObject }): Promise<void>;
  set(messageId: string, path: string, value: Json): Promise<void>;
  merge(messageId: string, value: Json): Promise<void>;
  end(messageId: string): Promise<void>;
}

interface Call extends CallName {
  readonly messageId: string;
  step: RunningStep | null;
}

/** The tool calls that a stream tells of: each is a `tool_call` message, and a step from its input to its result. */
export class PipedCalls {
  readonly #calls = new Map<string, Call>();

  constructor(
    private readonly ctx: CallsContext,
    private readonly frame: Pick<AssistantFrame, 'push' | 'innerStep'>,
  ) {}

  async take(said: CallSaid): Promise<void> {
    switch (said.what) {
      case 'begins':
        return this.#begin(said.call);
      case 'writes':
        return this.#write(said.toolCallId, said.delta);
      case 'input':
        return this.#call(said.call, said.input);
      case 'output':
        return this.#output(said.toolCallId, said.output, said.preliminary);
      case 'error':
        return this.#failed(said.toolCallId, said.error);
    }
  }

  /** The model begins to write an input. */
  async #begin(call: CallName): Promise<void> {
    const props = { ...call, inputText: '', state: 'running' };
    const messageId = await this.ctx.send({ type: 'tool_call', props });
    this.#calls.set(call.toolCallId, { ...call, messageId, step: null });
  }

  async #write(toolCallId: string, delta: string): Promise<void> {
    const call = this.#calls.get(toolCallId);
    if (call && call.step === null && delta !== '') await this.ctx.append(call.messageId, delta, 'inputText');
  }

  async #call(named: CallName, given: unknown): Promise<void> {
    const input = storable(given ?? {}) ?? {};
    const props: JsonObject = { ...named, input, state: 'running' };
    const message = { type: 'tool_call', props };
    const known = this.#calls.get(named.toolCallId);
    const step = this.frame.innerStep('tool');
    const args = { tool: named.tool, toolCallId: named.toolCallId, args: input };
    await this.frame.push([
      { op: 'step.start', stepId: step.stepId, type: 'tool', input: args, metadata: step.metadata },
    ]);
    if (known) {
      await this.ctx.replace(known.messageId, message);
      known.step = step;
    } else {
      const messageId = await this.ctx.send(message);
      this.#calls.set(named.toolCallId, { ...named, messageId, step });
    }
  }

  async #output(toolCallId: string, given: unknown, preliminary: boolean): Promise<void> {
    const call = this.#calls.get(toolCallId);
    if (!call) return;
    const output = storable(given ?? null) ?? 'What came cannot be kept: it is no JSON, or too deep.';
    await this.ctx.set(call.messageId, 'output', output);
    if (preliminary) return;
    await this.#over(call, { state: 'completed' }, { status: 'completed', output: { result: output } });
  }

  async #failed(toolCallId: string, error: string): Promise<void> {
    const call = this.#calls.get(toolCallId);
    // What it failed with was told to the model, which goes on.
    if (call)
      await this.#over(
        call,
        { state: 'failed', error },
        { status: 'failed', error: { code: 'error', message: error } },
      );
  }

  /** The stream is over: nobody will answer what is still open. */
  async close(): Promise<void> {
    for (const call of [...this.#calls.values()])
      await this.#over(call, { state: 'interrupted' }, { status: 'interrupted' });
  }

  async #over(
    { toolCallId, messageId, step }: Call,
    told: JsonObject,
    ended: { status: 'completed' | 'failed' | 'interrupted'; output?: Json; error?: Json },
  ): Promise<void> {
    this.#calls.delete(toolCallId);
    await this.ctx.merge(messageId, told);
    await this.ctx.end(messageId);
    if (!step) return;
    const handled = ended.status === 'completed' ? {} : { [HANDLED]: true };
    await this.frame.push([
      { op: 'step.end', stepId: step.stepId, ...ended, metadata: { ...step.metadata, ...handled } },
    ]);
  }
}
