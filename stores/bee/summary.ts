import type { BeeFramework, BeeMessage, SummaryTemplate } from './framework.js';
import type { Window } from './mirror.js';
import type { Part } from './stored-memory.js';
import type { Rows } from './rule.js';

/** Stands in what is kept of a summary: nothing else in its chat is one. */
export const SUMMARY = { summary: true } as const;

/** What makes the one message of a SummarizeMemory. */
export class Summary<M extends BeeMessage, L> implements Part<M> {
  constructor(
    private readonly framework: BeeFramework<M, object, L>,
    private readonly llm: L,
    private readonly template: SummaryTemplate,
  ) {}

  /** The newest summary; where two programs have made one, the others go with the next. */
  window(rows: Rows<M>): Window<M> {
    const summaries = [...rows]
      .filter(({ bee }) => bee['summary'] === true)
      .sort((a, b) => (a.stored?.sequence ?? 0) - (b.stored?.sequence ?? 0));
    return { rows: summaries.slice(-1), behind: summaries.slice(0, -1) };
  }

  /** The summary of all before and of this message: one call of the model. Null where it says nothing. */
  async next(before: string, { role, text }: M): Promise<M | null> {
    const { framework, llm, template } = this;
    const says = (role: string, text: string): M => framework.messageFrom({ role, text });
    const summary = await framework.generate(llm, [
      says('system', template.render({ summary: before })),
      says('assistant', `New lines of conversation:\n${role}: ${text}\n\nNew summary:\n`),
    ]);
    return summary ? says('assistant', summary) : null;
  }
}
