import * as z from 'zod';
import { assistantId, parse, principalId } from '../../protocol/index.js';
import type { AgentOptions } from './agent-options.js';

const optionsSchema = z.looseObject({
  agentId: principalId,
  url: z.url({ protocol: /^(https?|wss?)$/, error: 'expected an address such as https://chat.example' }).optional(),
  concurrency: z.int().min(1).max(1000).optional(),
  assistants: z
    .array(
      z.looseObject({
        assistantId,
        run: z.custom((value) => typeof value === 'function', { error: 'expected what defineAssistant gives' }),
      }),
    )
    .min(1, { error: 'an agent serves at least one assistant' })
    .refine((list) => new Set(list.map((one) => one.assistantId)).size === list.length, {
      error: 'two assistants have the same assistantId',
    }),
});

/** @throws {ChatError} `bad_request` with the field */
export function mustBeOptions(options: AgentOptions): void {
  parse(optionsSchema, options);
}
