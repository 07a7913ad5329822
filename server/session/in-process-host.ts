import { frameEnded } from '../../assistant/assistant-error.js';
import { runAssistant } from '../../assistant/run-assistant.js';
import type { Assistant } from '../../assistant/assistant.js';
import { nextTick, type Clock } from '../clock.js';
import type { IdSource } from '../id-source.js';
import type { Log } from '../log.js';
import type { FrameRun, HostSlot } from './host.js';

/** Ops that one frame may hand over before sockets are heard: an assistant in a loop must not stop the process. */
const OPS_PER_TICK = 64;

/** Runs assistants inside the server process. */
export class InProcessHost {
  readonly #assistants: ReadonlyMap<string, Assistant>;

  constructor(
    assistants: readonly Assistant[],
    private readonly clock: Clock,
    private readonly ids: IdSource,
    private readonly log: Log,
  ) {
    this.#assistants = new Map(assistants.map((assistant) => [assistant.assistantId, assistant]));
  }

  get assistants(): Iterable<Assistant> {
    return this.#assistants.values();
  }

  /** A place for the assistant, undefined where this process does not serve it. There is always room. */
  place(assistantId: string): HostSlot | undefined {
    const assistant = this.#assistants.get(assistantId);
    if (!assistant) return undefined;
    const abort = new AbortController();
    return {
      holder: { key: abort, abort: (reason) => abort.abort(frameEnded(reason)) },
      giveBack: () => undefined,
      begin: (run) => void this.#run(assistant, run, abort.signal),
    };
  }

  async #run(assistant: Assistant, run: FrameRun, abortSignal: AbortSignal): Promise<void> {
    let ops = 0;
    // Not async: most ops are tokens, and a promise more for each of them is a tenth of what a token costs.
    const push = (pushed: readonly unknown[]): Promise<void> => {
      const applied = run.apply(pushed);
      ops += pushed.length;
      if (ops < OPS_PER_TICK) return applied;
      ops = 0;
      // Also what is refused waits: one who tries again and again must not stop the process either.
      const taken = nextTick(this.clock).then(() => applied);
      taken.catch(() => undefined);
      return taken;
    };
    const { turn } = run.assignment;
    const about = { assistantId: assistant.assistantId, chatId: turn.chatId, requestId: turn.requestId };
    const outcome = await runAssistant(assistant, {
      // Its own, as it would be far away: what it changes in it is nobody else's. The space gives copies by itself.
      assignment: { ...structuredClone({ ...run.assignment, space: {} }), space: run.assignment.space },
      sink: { push, delegate: (call) => run.delegate(call) },
      abortSignal,
      newId: () => this.ids.id(),
      clock: this.clock,
      onError: (err) => this.log.warn({ err, ...about }, 'an assistant failed'),
    });
    run.close(outcome);
  }
}
