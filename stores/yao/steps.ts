import type { ArgsInput, ChatCommands } from '../../protocol/index.js';
import { orIfAbsent } from '../absent.js';
import { invalid, mustBeGiven, told } from './error.js';
import { changesIn, isId, listOf, notFoundOf } from './given.js';
import { savedStepOf, stepOf, type NewStep, type Step } from './step.js';

/** The seed's management of steps. Every method is refused with a {@link YaoStoreError}, and then nothing has changed. */
export interface StepOperations {
  /**
   * Adds steps of one chat behind those that their requests have, all or none, at most 1,000 at a time; one that is there
   * is changed. No steps are a success.
   *
   * @returns the steps as they stand
   * @throws {YaoStoreError} `bad_request` for one of which a required field is missing, and for steps of several chats;
   *   `not_found`, `forbidden`; `conflict` for an id that is another step's, or a request that is running
   */
  saveSteps(steps: readonly (NewStep | null)[]): Promise<Step[]>;
  /**
   * Changes status, output, error, spaceSnapshot or metadata. A completed step stays completed.
   *
   * @throws {YaoStoreError} `bad_request` for no fields, or one that does not change; `not_found`, `forbidden`; `conflict`
   *   while its request is running
   */
  updateStep(stepId: string, updates: Readonly<Record<string, unknown>>): Promise<void>;
  /** Of one request, ascending; none of an unknown one. @throws {YaoStoreError} `bad_request`, `forbidden` */
  getSteps(requestId: string): Promise<Step[]>;
  /**
   * Of the newest request that is incomplete: the deepest stack, then the highest sequence. Null where there is none.
   *
   * @throws {YaoStoreError} `bad_request`, `forbidden`
   */
  getLastIncompleteStep(chatId: string): Promise<Step | null>;
  /** Ascending; none of an unknown stack. @throws {YaoStoreError} `bad_request`, `forbidden` */
  getStepsByStackId(stackId: string): Promise<Step[]>;
  /** From the root to this stack; an unknown one alone. @throws {YaoStoreError} `bad_request`, `forbidden` */
  getStackPath(stackId: string): Promise<string[]>;
}

const OPEN = ['status', 'output', 'error', 'spaceSnapshot', 'metadata'];
const PASSED_OVER = ['stepId', 'chatId', 'createdAt', 'updatedAt'];

export const stepOperations = (chats: ChatCommands): StepOperations => ({
  async saveSteps(steps) {
    const list = listOf(steps, 'steps');
    const drafts = list.map(savedStepOf);
    const [chatId, ...others] = new Set(list.map((step) => step.chatId));
    if (chatId === undefined) return [];
    if (others.length > 0) throw invalid('steps are saved for one chat at a time, all or none');
    const not_found = notFoundOf('chat', chatId);
    const saved = await told(chats.call('step:save', { chatId, steps: drafts }), { not_found });
    return saved.steps.map(stepOf);
  },

  async updateStep(stepId, updates) {
    mustBeGiven(stepId, 'step_id');
    const changes = changesIn(updates, OPEN, PASSED_OVER);
    if (Object.keys(changes).length === 0) throw invalid('no fields to update');
    const not_found = notFoundOf('step', stepId);
    // An empty text is no error, as in Go.
    const args = { ...changes, ...(changes['error'] === '' ? { error: null } : {}), stepId };
    // Their values are for the schema to judge.
    await told(chats.call('step:update', args as ArgsInput<'step:update'>), { not_found });
  },

  async getSteps(requestId) {
    mustBeGiven(requestId, 'request_id');
    if (!isId(requestId)) return [];
    const { steps } = await told(orIfAbsent(chats.call('step:list', { requestId }), { steps: [] }));
    return steps.map(stepOf);
  },

  async getLastIncompleteStep(chatId) {
    mustBeGiven(chatId, 'chat_id');
    if (!isId(chatId)) return null;
    const { step } = await told(orIfAbsent(chats.call('step:incomplete', { chatId }), { step: null }));
    return step && stepOf(step);
  },

  async getStepsByStackId(stackId) {
    mustBeGiven(stackId, 'stack_id');
    if (!isId(stackId)) return [];
    const { steps } = await told(orIfAbsent(chats.call('step:stack', { stackId }), { steps: [] }));
    return steps.map(stepOf);
  },

  async getStackPath(stackId) {
    mustBeGiven(stackId, 'stack_id');
    if (!isId(stackId)) return [stackId];
    return (await told(orIfAbsent(chats.call('step:path', { stackId }), { path: [stackId] }))).path;
  },
});
