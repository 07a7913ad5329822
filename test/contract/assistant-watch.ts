import { onTestFinished } from 'vitest';
import type { Context } from '../../assistant/index.js';
import type { Json, Message, Step } from '../../protocol/index.js';
import { clientOf, messagesOf, opened, textOf } from '../harness/sdk.js';
import { storeBeside } from '../harness/store-beside.js';
import type { AssistantScene } from './assistant-hosts.js';

/** Nothing, for ever: what hangs until its turn is stopped. */
export const forever = (): Promise<never> => new Promise(() => undefined);

/** The assistant messages of the chat as a follower sees them, moment by moment. */
export async function shown(scene: AssistantScene): Promise<{ readonly moments: string[][]; messages(): Message[] }> {
  const chat = await opened(clientOf(scene.url), scene.chatId);
  const messages = (): Message[] => messagesOf(chat).filter(({ role }) => role === 'assistant');
  const moments: string[][] = [];
  const look = (): void => {
    const texts = messages().map(textOf);
    if (JSON.stringify(texts) !== JSON.stringify(moments.at(-1))) moments.push(texts);
  };
  look();
  onTestFinished(chat.view.subscribe(look));
  return { moments, messages };
}

/** Type, status and input of each step, in order. */
export const outline = (steps: readonly Step[]): [type: string, status: string, input: unknown][] =>
  steps.map(({ type, status, input }) => [type, status, input]);

/** What the database holds of a chat's messages, whatever it shows. */
export async function storedProps(dataDir: string): Promise<Json[]> {
  const rows = await storeBeside(dataDir).rows('SELECT props FROM agent_message ORDER BY sequence');
  return rows.map(({ props }) => props as Json);
}

/** The text that the run is given. */
export const asked = ({ input }: Context): string => input.map(textOf).join(' ');

/** What a test has written into the turn's metadata under this name. */
export const told = ({ metadata }: Context, name: string): string => {
  const value = metadata[name];
  return typeof value === 'string' ? value : '';
};
