import type { ArgsInput, ChatCommands } from '../../protocol/index.js';

/** What one command takes and one frame over the network holds. */
const AT_ONCE = 500;

/** Saves the chat's first question and answer again and again, in the form in which the room saved them. */
export async function repeatChat(chats: ChatCommands, chatId: string, messages: number): Promise<void> {
  const { messages: pair } = await chats.call('message:list', { chatId, limit: 2 });
  const drafts: ArgsInput<'message:save'>['messages'] = pair.map(({ role, type, props, assistantId, metadata }) => ({
    role,
    type,
    props,
    ...(assistantId === null ? {} : { assistantId }),
    ...(metadata === null ? {} : { metadata }),
  }));
  for (let saved = pair.length; saved < messages; saved += AT_ONCE) {
    const count = Math.min(AT_ONCE, messages - saved);
    const batch = Array.from({ length: count / drafts.length }, () => drafts).flat();
    await chats.call('message:save', { chatId, messages: batch });
  }
}
