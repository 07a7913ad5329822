// A front desk hands over to the expense assistant and tells it by the space of the turn what to do. It needs no model:
//
//     ASSISTANTS=examples/expense.ts npx tsx tools/start.mjs
//     npx turnstream say money "Train to Bergen 48.50" --assistant desk
//     npx turnstream say money "How much was the train?" --assistant desk
import { defineAssistant, type Context } from 'turnstream/assistant';

interface Expense {
  readonly what: string;
  readonly amount: number;
}

/** By turn: a hook that is run again by a resume writes the same entry, not a second one. */
const ledger = new Map<string, Expense>();

const textOf = ({ input }: Context): string =>
  input.map(({ props }) => (typeof props['content'] === 'string' ? props['content'] : '')).join('\n');

const desk = defineAssistant({
  assistantId: 'desk',
  name: 'Front desk',
  async next(ctx) {
    await ctx.space.set('choose_prompt', textOf(ctx).includes('?') ? 'query' : 'record');
    return { delegate: { assistantId: 'expense' } };
  },
});

const expense = defineAssistant({
  assistantId: 'expense',
  name: 'Expenses',
  async create(ctx) {
    // Handed over once: what the expense assistant itself may call does not find it. A hook is a step, and a step that
    // runs again has the space that it began with, so the value is there for it.
    const prompt = ctx.space.getDel('choose_prompt');
    await ctx.send(prompt === 'query' ? answer(textOf(ctx)) : record(ctx.turn.requestId, textOf(ctx)));
  },
});

function record(requestId: string, text: string): string {
  const [, what, digits] = /^(.+?)\s+(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (what === undefined) return 'Say what it was and what it cost: "Lunch 12.50".';
  const amount = Number(digits);
  ledger.set(requestId, { what, amount });
  return `Noted: ${what}, ${amount.toFixed(2)}.`;
}

function answer(question: string): string {
  const words = question.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
  const meant = [...ledger.values()].filter(({ what }) => words.some((word) => what.toLowerCase().includes(word)));
  const sum = meant.reduce((total, { amount }) => total + amount, 0);
  return meant.length === 0 ? 'Nothing of that is noted.' : `${meant.length} noted, ${sum.toFixed(2)} in all.`;
}

export default [desk, expense];
