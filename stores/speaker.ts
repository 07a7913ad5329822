import type { Message, Role } from '../protocol/index.js';

/**
 * What of a message to save says who speaks. A chat knows users and assistants; every other role of a framework is an
 * assistant's for people, and stands in the metadata: see {@link namedRole}.
 */
export const speakerOf = (role: string, assistantId: string): { role: Role; assistantId?: string } =>
  role === 'user' ? { role } : { role: 'assistant', assistantId };

/** What the metadata of a message say of its role: nothing, where the chat knows it. */
export const namedRole = (role: string): { role?: string } => (role === 'user' || role === 'assistant' ? {} : { role });

/**
 * The role in which a framework is given a message. What metadata name counts with an assistant's message only: whoever
 * may talk in a chat writes what they like into the metadata of their own, and stays a user.
 */
export function roleOf({ role, metadata }: Pick<Message, 'role' | 'metadata'>): string {
  const named = metadata?.['role'];
  return role === 'assistant' && typeof named === 'string' && named !== '' ? named : role;
}
