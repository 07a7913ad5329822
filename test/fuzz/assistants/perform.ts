import type { Context, defineAssistant as Define, Assistant } from '../../../assistant/index.js';
import { isJsonObject, type Json } from '../../../protocol/index.js';
import type { Effects } from './effects.js';
import { mockModel } from './mock-model.js';
import { FAILS, HANGS, LOSES, type HookPlan, type Node, type Tree, type TreeAssistant } from './tree.js';

/** Below it, things happen side by side: what is read of the space there is not the same each time. */
const BESIDE = '|';
/** Below it are those that did not win. */
export const LOSER = '?';
const AS_PLANNED = 'as planned';

export interface Kit {
  readonly defineAssistant: typeof Define;
  readonly effects: Effects;
}

/**
 * The assistants of a tree. Whatever they do is named by its path: which assistant was asked on which way, and by which
 * node. The path stands in inputs, messages and effects, and is the same in every run of the tree.
 */
export function assistantsOf(tree: Tree, kit: Kit): Assistant[] {
  const { defineAssistant, effects } = kit;
  const performer = new Performer(effects);
  return [
    ...tree.assistants.map((assistant) => build(assistant, performer, kit)),
    defineAssistant({
      assistantId: FAILS,
      run: (ctx) =>
        performer.step(ctx, { path: pathOf(ctx), type: 'tool', run: () => Promise.reject(new Error(AS_PLANNED)) }),
    }),
    defineAssistant({ assistantId: LOSES, run: () => Promise.reject(new Error(AS_PLANNED)) }),
    defineAssistant({ assistantId: HANGS, run: () => new Promise(() => undefined) }),
  ];
}

const pathOf = (ctx: Context): string => ctx.input[0]?.props['content'] as string;

function build(plan: TreeAssistant, performer: Performer, { defineAssistant, effects }: Kit): Assistant {
  const { assistantId } = plan;
  if (plan.kind === 'program') {
    return defineAssistant({
      assistantId,
      async run(ctx) {
        const path = pathOf(ctx);
        const outputs = await performer.all(ctx, path, plan.nodes);
        return path === 'root' ? performer.conclude(ctx, path, outputs) : outputs;
      },
    });
  }
  const attempts = new Map<string, number>();
  const hook = async (ctx: Context, name: string, nodes: readonly Node[]): Promise<Json> => {
    const path = `${pathOf(ctx)}/${name}`;
    effects.run(path, ctx.turn.attempt);
    const outputs = await performer.all(ctx, path, nodes);
    effects.finish(path);
    return outputs;
  };
  const { create, next, rounds } = plan;
  const tools = Object.fromEntries(
    rounds.flatMap((calls, round) =>
      calls.map(({ fails, nodes }, index) => [
        `t${round}-${index}`,
        {
          inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
          onError: fails ? ('tell' as const) : ('fail' as const),
          async execute(input: unknown, ctx: Context): Promise<Json> {
            const { path } = input as { path: string };
            effects.run(path, ctx.turn.attempt);
            if (fails) throw new Error(AS_PLANNED);
            const outputs = await performer.all(ctx, path, nodes);
            effects.finish(path);
            return { path, outputs };
          },
        },
      ]),
    ),
  );
  return defineAssistant({
    assistantId,
    model: mockModel(plan, { effects, attemptOf: (path) => attempts.get(path) ?? 0 }),
    instructions(ctx) {
      attempts.set(pathOf(ctx), ctx.turn.attempt);
      return 'Do as the seed says.';
    },
    tools,
    ...(create && {
      async create(ctx, { messages }) {
        await hook(ctx, 'create', create.nodes);
        return { messages: [{ role: 'assistant', content: 'rewritten' }, ...messages] };
      },
    }),
    async next(ctx, payload) {
      const outputs = await hook(ctx, 'next', next?.nodes ?? []);
      const results = payload.tools.map(({ tool, result, error }) => ({ tool, result, error }));
      const data = { said: payload.completion?.content ?? null, results, outputs };
      const path = pathOf(ctx);
      if (path === 'root') return { data: performer.last(ctx, data) };
      return { data, ...delegationOf(next, path) };
    },
  });
}

const delegationOf = (next: HookPlan | null, path: string) =>
  !next?.to ? {} : { delegate: { assistantId: next.to, messages: `${path}/d-next` } };

class Performer {
  constructor(private readonly effects: Effects) {}

  /** The last step of all: what came of everything. */
  conclude(ctx: Context, path: string, outputs: Json): Promise<Json> {
    const run = (): Promise<Json> => Promise.resolve(this.last(ctx, outputs));
    return this.step(ctx, { path: `${path}/end`, type: 'hook_next', run });
  }

  last(ctx: Context, outputs: Json): Json {
    return { outputs, space: ctx.space.snapshot() };
  }

  async step(
    ctx: Context,
    {
      path,
      type,
      after = null,
      run,
    }: { path: string; type: Parameters<Context['step']>[0]; after?: Json; run: () => Promise<Json> },
  ): Promise<Json> {
    const { attempt } = ctx.turn;
    const output = await ctx.step(type, { path, after }, async () => {
      this.effects.run(path, attempt);
      const result = await run();
      this.effects.finish(path);
      return result;
    });
    this.effects.done(path, attempt);
    return output;
  }

  async all(ctx: Context, path: string, nodes: readonly Node[]): Promise<Json[]> {
    const outputs: Json[] = [];
    for (const node of nodes) {
      const output = await this.#node(ctx, `${path}/${node.id}`, node, digest(outputs));
      if (output !== undefined) outputs.push(output);
    }
    return outputs;
  }

  async #node(ctx: Context, path: string, node: Node, after: string): Promise<Json | undefined> {
    switch (node.do) {
      case 'send':
        return void (await send(ctx, path, node));
      case 'wait':
        return void (await ctx.wait(node.ms));
      case 'space':
        return this.#space(ctx, path, node);
      case 'step':
        return this.step(ctx, { path, type: node.type, after, run: () => this.all(ctx, path, node.nodes) });
      case 'delegate':
        return ctx.delegate(node.to, path);
      case 'call':
        return answer(await ctx.call(node.to, path));
      case 'all': {
        const requests = node.to.map((assistantId, at) => ({ assistantId, messages: `${path}${BESIDE}${at}` }));
        return (await ctx.callAll(requests)).map(answer);
      }
      case 'any':
      case 'race': {
        const losers = node.losers.map((before, at) => ({
          before,
          request: { assistantId: node.do === 'any' ? LOSES : HANGS, messages: `${path}${LOSER}${at}` },
        }));
        const requests = [
          ...losers.filter(({ before }) => before).map(({ request }) => request),
          { assistantId: node.to, messages: `${path}${BESIDE}winner` },
          ...losers.filter(({ before }) => !before).map(({ request }) => request),
        ];
        return answer(await (node.do === 'any' ? ctx.callAny(requests) : ctx.callRace(requests)));
      }
      case 'parallel':
        return Promise.all(
          node.branches.map(
            async (branch, at) => (await this.#node(ctx, `${path}${BESIDE}${at}/${branch.id}`, branch, after)) ?? null,
          ),
        );
      case 'try':
        return this.#try(ctx, path, node, after);
    }
  }

  async #try(ctx: Context, path: string, node: Extract<Node, { do: 'try' }>, after: string): Promise<Json> {
    try {
      const failing = `${path}/fails`;
      if (node.how === 'delegate') return await ctx.delegate(FAILS, failing);
      return await this.step(ctx, {
        path: failing,
        type: 'tool',
        async run() {
          await ctx.send(`${failing}/m0 will fail`);
          throw new Error(AS_PLANNED);
        },
      });
    } catch (error) {
      if (!String(error).includes(AS_PLANNED)) throw error;
      const caught = error instanceof Error ? error.message : '';
      return [caught, (await this.#node(ctx, `${path}/${node.fallback.id}`, node.fallback, after)) ?? null];
    }
  }

  async #space(ctx: Context, path: string, { op, key }: Extract<Node, { do: 'space' }>): Promise<Json | undefined> {
    const isBeside = path.includes(BESIDE);
    if (op === 'set') return void (await ctx.space.set(isBeside ? path : key, path));
    if (isBeside) return undefined;
    return { [op]: (op === 'get' ? ctx.space.get(key) : ctx.space.getDel(key)) ?? null };
  }
}

const answer = ({ assistantId, output }: Awaited<ReturnType<Context['call']>>): Json => ({ assistantId, output });

async function send(ctx: Context, path: string, { way, words, ends }: Extract<Node, { do: 'send' }>): Promise<void> {
  const id = await opening(ctx, path, way, words);
  if (way !== 'whole') {
    const at = way === 'set' ? 'rows.0.text' : undefined;
    for (const part of halved(words.join(''))) await ctx.append(id, part, at);
  }
  if (way === 'replaced') {
    await ctx.replace(id, { type: 'card', props: { content: `${path} anew `, n: words.length } });
    for (const word of words) await ctx.append(id, word);
  }
  if (way === 'merged') await ctx.merge(id, { progress: { done: words.length }, list: [path] });
  if (way === 'set') await ctx.set(id, 'rows.1', { text: path });
  if (ends) await ctx.end(id);
}

function opening(ctx: Context, path: string, way: string, words: readonly string[]): Promise<string> {
  if (way === 'merged')
    return ctx.send({ type: 'card', props: { content: `${path} `, progress: { done: 0, of: words.length } } });
  if (way === 'set') return ctx.send({ type: 'table', props: { content: `${path} `, rows: [{ text: '' }] } });
  return ctx.send(way === 'whole' ? `${path} ${words.join('')}` : `${path} `);
}

/** Three units at a time: pairs are cut in the middle. */
const halved = (text: string): string[] => text.match(/[^]{1,3}/g) ?? [];

/** A short name for a value (FNV-1a): what comes after it depends on it. */
function digest(value: Json): string {
  let hash = 0x811c9dc5;
  for (const unit of JSON.stringify(value)) hash = Math.imul(hash ^ (unit.codePointAt(0) as number), 0x01000193) >>> 0;
  return hash.toString(36);
}

/** The path of what a step is about, by its input. */
export function pathOfStep(type: string, input: Json): string {
  const { path, args, messages, completion, any, race } = isJsonObject(input) ? input : {};
  if (typeof path === 'string') return path;
  if (isJsonObject(args)) return args['path'] as string;
  if (isJsonObject(completion)) return (completion['content'] as string).replace(/\/llm\d+ [^]*/, '/next');
  if (type === 'delegate') {
    const winner = [any ?? race ?? []]
      .flat()
      .find((one) => isJsonObject(one) && ![LOSES, HANGS].includes(one['assistantId'] as string));
    if (isJsonObject(winner)) return `${contentOf(winner['messages'])}/${any ? 'any' : 'race'}`;
    return `${contentOf(messages)}/D`;
  }
  const asked = contentOf(messages);
  if (type === 'llm') {
    const rounds = [messages ?? []].flat().filter((message) => isJsonObject(message) && message['role'] === 'tool');
    return `${asked}/llm${rounds.length}`;
  }
  return `${asked}/${type === 'hook_create' ? 'create' : type}`;
}

/** The text of the last message that was asked. */
function contentOf(messages: Json | undefined): string {
  const asked = [messages ?? []]
    .flat()
    .filter((message) => !isJsonObject(message) || (message['role'] ?? 'user') === 'user');
  return textOf(asked.at(-1) ?? '');
}

function textOf(message: Json): string {
  if (typeof message === 'string') return message;
  if (Array.isArray(message)) return textOf((message as Json[])[0] ?? '');
  if (!isJsonObject(message)) return '';
  return textOf(message['text'] ?? message['content'] ?? message['props'] ?? '');
}
