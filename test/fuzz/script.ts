import type { OpInput } from '../../protocol/index.js';
import { Random } from './random.js';

/** What an agent does with one frame, drawn from the round's seed and the frame's name alone. */
export type Scene =
  /** Pushes sent one after another without waiting for their answers. */
  | { readonly do: 'push'; readonly pushes: readonly OpInput[][] }
  /** A push that must be refused as a whole (AGT-2). */
  | { readonly do: 'badPush'; readonly ops: readonly unknown[] }
  /** The last push once more under its seq (AGT-1). */
  | { readonly do: 'repeat' }
  | { readonly do: 'pause'; readonly ms: number }
  | {
      readonly do: 'delegate';
      readonly assistantId: string;
      readonly childStackId: string;
      readonly isAwaited: boolean;
    }
  /** Says nothing more until it is told to stop, or the round comes to its end. */
  | { readonly do: 'hang' };

export interface Script {
  readonly scenes: readonly Scene[];
  readonly end: 'completed' | 'failed' | 'interrupted';
}

export interface FrameName {
  readonly requestId: string;
  readonly attempt: number;
  readonly stackId: string;
  readonly stackDepth: number;
  /** Opened by the agent itself: it may speak as a user. */
  readonly isOpened: boolean;
  /** Incomplete steps of this stack that an earlier attempt left. */
  readonly resumeSteps: readonly { readonly stepId: string; readonly type: string }[];
}

const MAX_DEPTH = 2;

/** @param serial makes ids unique in the round: a frame may be played twice, by another agent or after a crash */
export function scriptOf(seed: number, name: FrameName, serial: number): Script {
  const random = Random.of(seed, `${name.requestId}/${name.attempt}/${name.stackDepth}`);
  const pen = new Pen(random, `${seed.toString(36)}-${serial}`, name.isOpened);
  const scenes: Scene[] = [];
  const again = name.resumeSteps.filter(() => random.chance(0.8));
  for (const { stepId, type } of again) scenes.push({ do: 'push', pushes: [pen.stepAgain(stepId, type)] });
  for (let left = random.between(1, 12); left > 0; left--) scenes.push(sceneOf(random, pen, name));
  return { scenes, end: random.weighted({ completed: 7, failed: 1.5, interrupted: 1.5 }) };
}

function sceneOf(random: Random, pen: Pen, { stackDepth }: FrameName): Scene {
  const kind = random.weighted<Scene['do']>({
    push: 14,
    badPush: 1,
    repeat: 1,
    pause: 6,
    delegate: stackDepth < MAX_DEPTH ? 1.2 : 0,
    hang: 0.25,
  });
  switch (kind) {
    case 'push':
      return {
        do: kind,
        pushes: Array.from({ length: random.chance(0.3) ? random.between(2, 12) : 1 }, () => pen.push()),
      };
    case 'badPush':
      return { do: kind, ops: [...pen.harmless(), random.pick(BAD_OPS)] };
    case 'pause':
      return { do: kind, ms: random.between(0, 60) };
    case 'delegate':
      return {
        do: kind,
        assistantId: random.weighted({ alpha: 2, beta: 2, echo: 2, nobody: 0.5 }),
        childStackId: pen.id('stack'),
        isAwaited: random.chance(0.6),
      };
    default:
      return { do: kind };
  }
}

const BAD_OPS: readonly unknown[] = [
  { op: 'append', messageId: 'no-such-message-here', text: 'x' },
  { op: 'send', type: 'text', props: 'none' },
  { op: 'send', type: 'text', props: { ['__proto__x']: 1 }, stepId: 'no-such-step-at-all-here' },
  { op: 'step.end', stepId: 'no-such-step-at-all-here', status: 'completed' },
  { op: 'unheard-of' },
  null,
];

interface OpenMessage {
  readonly messageId: string;
  /** Paths that hold text, each with at least one character. */
  readonly paths: string[];
}

/** Writes pushes that the rules allow, one after another: it knows which messages and steps it has open. */
class Pen {
  #count = 0;
  readonly #open: OpenMessage[] = [];
  readonly #steps: string[] = [];

  constructor(
    private readonly random: Random,
    private readonly mark: string,
    private readonly isOpened: boolean,
  ) {}

  id(kind: string): string {
    return `${kind}-${this.mark}-${++this.#count}`.padEnd(24, '.').replaceAll('.', '_');
  }

  push(): OpInput[] {
    return Array.from({ length: this.random.chance(0.6) ? 1 : this.random.between(2, 5) }, () => this.#op());
  }

  /** Opens a step again and answers in it anew. */
  stepAgain(stepId: string, type: string): OpInput[] {
    return [
      { op: 'step.start', stepId, type: type as 'llm' },
      ...(this.random.chance(0.7) ? [this.#send()] : []),
      ...(this.random.chance(0.8) ? [{ op: 'step.end' as const, stepId, status: 'completed' as const }] : []),
    ];
  }

  /** Ops that are good by themselves and leave no trace in what this pen knows. */
  harmless(): OpInput[] {
    const { random } = this;
    const message = this.#open.at(-1);
    return [
      { op: 'space.set', key: 'bad', value: true },
      ...(message && random.chance(0.5)
        ? [{ op: 'append' as const, messageId: message.messageId, text: 'NEVER' }]
        : []),
      ...(random.chance(0.3)
        ? [{ op: 'send' as const, messageId: this.id('bad'), type: 'text', props: { content: 'NEVER' } }]
        : []),
    ];
  }

  #op(): OpInput {
    const { random } = this;
    const message = this.#open.length > 0 ? random.pick(this.#open) : null;
    if (!message) return random.chance(0.85) ? this.#send() : this.#aside();
    switch (random.weighted({ append: 14, send: 2, end: 1.5, change: 3, aside: 3 })) {
      case 'append':
        return this.#append(message);
      case 'send':
        return this.#send();
      case 'end':
        this.#open.splice(this.#open.indexOf(message), 1);
        return { op: 'end', messageId: message.messageId };
      case 'change':
        return this.#change(message);
      case 'aside':
        return this.#aside();
    }
  }

  #send(): OpInput {
    const { random } = this;
    const messageId = this.id('message');
    this.#open.push({ messageId, paths: ['content'] });
    return {
      op: 'send',
      messageId,
      type: random.pick(['text', 'text', 'thinking']),
      props: { content: random.chance(0.5) ? '' : this.#text() },
      ...(random.chance(0.1) ? { blockId: 'block-1', threadId: 'thread-1', metadata: { model: 'none' } } : {}),
      ...(this.isOpened && random.chance(0.3) ? { role: 'user' as const } : {}),
    };
  }

  #append(message: OpenMessage): OpInput {
    const { random } = this;
    if (random.chance(0.08)) {
      const path = random.pick(['note', 'rows.0.text']);
      const isNew = !message.paths.includes(path);
      if (isNew) message.paths.push(path);
      // A text begins with a whole character: half of one alone shows nothing, not even an empty text.
      return { op: 'append', messageId: message.messageId, path, text: isNew ? 'n' : this.#piece() };
    }
    const path = random.chance(0.15) ? random.pick(message.paths) : 'content';
    return {
      op: 'append',
      messageId: message.messageId,
      text: this.#piece(),
      ...(path === 'content' ? {} : { path: `props.${path}` }),
    };
  }

  #change(message: OpenMessage): OpInput {
    const { random } = this;
    const { messageId } = message;
    switch (random.weighted({ set: 3, merge: 3, replace: 1 })) {
      case 'set':
        return {
          op: 'set',
          messageId,
          path: random.pick(['meta.a', 'meta.b.c', 'list.0']),
          value: random.pick([1, null, 'v', { d: [1] }]),
        };
      case 'merge':
        return { op: 'merge', messageId, value: { meta: { [random.pick(['a', 'e'])]: this.#text() } } };
      case 'replace':
        message.paths.splice(0, message.paths.length, 'content');
        return { op: 'replace', messageId, props: { content: this.#text() } };
    }
  }

  /** Ops that are no messages. */
  #aside(): OpInput {
    const { random } = this;
    const stepId = this.#steps.at(-1);
    switch (random.weighted({ step: 2, endStep: stepId ? 3 : 0, space: 1, signal: 1 })) {
      case 'step': {
        const begun = this.id('step');
        this.#steps.push(begun);
        return {
          op: 'step.start',
          stepId: begun,
          type: random.pick(['llm', 'tool', 'input']),
          input: { at: this.#count },
        };
      }
      case 'endStep':
        this.#steps.pop();
        return {
          op: 'step.end',
          stepId: stepId as string,
          status: random.weighted({ completed: 6, failed: 1, interrupted: 1 }),
          output: 'out',
        };
      case 'space':
        return random.chance(0.7)
          ? { op: 'space.set', key: random.pick(['a', 'b']), value: this.#count }
          : { op: 'space.delete', key: 'a' };
      case 'signal':
        return { op: 'signal', name: 'progress', data: { at: this.#count } };
    }
  }

  #text(): string {
    return `t${this.#count++}${this.random.pick([' plain', ' 漢字', ' 😀', ' \u0000', '\ud83d'])}`;
  }

  /** A delta as models make them: any cut of a text, also through a character. Never empty. */
  #piece(): string {
    const { random } = this;
    return random.pick([
      ' word',
      `${this.#count++},`,
      '\ud83d',
      '\ude00',
      '😀😀',
      '\ud83d\ude00\ud83d',
      '\ude00 and',
      ' 漢',
      '\u0000',
      'same',
      'same',
    ]);
  }
}
