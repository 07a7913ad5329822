import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { langGraph, type Graph, type State } from './frameworks.js';
import { QUESTION, type Keeper } from './keeper.js';
import { ANSWER } from './seed.js';
import type { WriteCount } from './write-count.js';

const STEPS = 10;
const LAST = `step${STEPS}`;
const part = ANSWER.slice(0, Math.ceil(ANSWER.length / STEPS));

/**
 * A graph of ten steps with LangGraph's SqliteSaver. Messages are plain objects, which costs it less than messages of its
 * own classes.
 *
 * @param durability `sync` writes each step before the next begins, `async` (its default) while the next one runs
 */
export function graphKeeper(directory: string, durability: 'sync' | 'async', count?: WriteCount): Keeper {
  const { SqliteSaver } = langGraph();
  return async (messages) => {
    const path = join(directory, `${randomUUID()}.db`);
    const database = new Database(path, count ? { verbose: count.hook() } : {});
    const graph = tenSteps(new SqliteSaver(database));
    const config = { configurable: { thread_id: 'thread' }, durability };
    const pair = [
      { role: 'user', content: QUESTION },
      { role: 'assistant', content: ANSWER },
    ];
    const past = Array.from({ length: messages / 2 }, () => pair).flat();
    await graph.updateState(config, { messages: past, said: '' }, LAST);
    const whole = async (): Promise<number> => (await graph.getState(config)).values.messages.length;
    return {
      turn: () => graph.invoke({ messages: pair.slice(0, 1), said: '' }, config),
      whole,
      reopened: whole,
    };
  };
}

function tenSteps(checkpointer: object): Graph {
  const { Annotation, StateGraph, START, END } = langGraph();
  const state = Annotation.Root({
    messages: Annotation<State['messages']>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
    said: Annotation<string>({ reducer: (before, added) => (added === '' ? '' : before + added), default: () => '' }),
  });
  const graph = new StateGraph(state);
  for (let step = 1; step <= STEPS; step++) {
    const name = `step${step}`;
    graph.addNode(name, ({ said }) =>
      name === LAST ? { messages: [{ role: 'assistant', content: said + part }], said: part } : { said: part },
    );
    graph.addEdge(step === 1 ? START : `step${step - 1}`, name);
  }
  graph.addEdge(LAST, END);
  return graph.compile({ checkpointer });
}
