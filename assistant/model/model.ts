import type { LanguageModel } from 'ai';

/** A model of an AI SDK provider. Not a name alone, which the SDK would look up with a service of its maker. */
export type Model = Exclude<LanguageModel, string>;

/** A model, or what makes one when it is first needed. */
export type ModelSource = Model | (() => Model | Promise<Model>);
