import { randomUUID } from 'node:crypto';
import type { ChatCommands } from '../../protocol/index.js';
import type { BeeaiClasses } from '../../stores/bee/index.js';
import { builtRooms } from './built.js';
import { beeai } from './frameworks.js';
import { QUESTION, type Keeper } from './keeper.js';
import { repeatChat } from './repeat-chat.js';
import { ANSWER } from './seed.js';

interface Memory<M> {
  readonly messages: readonly M[];
  add(message: M): Promise<void>;
}

type Classes = BeeaiClasses<never, object>;
type Message = InstanceType<Classes['UserMessage']>;
type BackendMessages = Pick<
  Classes,
  'Message' | 'UserMessage' | 'AssistantMessage' | 'SystemMessage' | 'ToolMessage' | 'CustomMessage'
>;

const backend = (): BackendMessages => beeai<BackendMessages>('backend/message');

/** A question and an answer, each time other objects: a memory may be told to keep one twice. */
function exchange(): [Message, Message] {
  const { UserMessage, AssistantMessage } = backend();
  return [new UserMessage(QUESTION as never), new AssistantMessage(ANSWER as never)];
}

/** Our room, wherever the chats are. @param isAwaited each `add`; else both are waited for at the end of the turn */
export async function beeRoom(chats: ChatCommands, isAwaited: boolean): Promise<Keeper> {
  const { beeaiFramework, createBeeMemories } = await builtRooms();
  const { UnconstrainedMemory } = createBeeMemories(
    beeaiFramework({
      ...beeai<Pick<Classes, 'BaseMemory' | 'MemoryFatalError'>>('memory/base'),
      ...beeai<Pick<Classes, 'SummarizeMemoryTemplate'>>('memory/summarizeMemory'),
      ...backend(),
    }),
    chats,
  );
  return async (messages) => {
    const chatId = randomUUID();
    // The members that the framework's BaseMemory has are not in the type of what came in as an object.
    const open = async () => (await UnconstrainedMemory.open({ chatId })) as unknown as Memory<Message> & Flushing;
    const first = await open();
    for (const message of exchange()) await first.add(message);
    await repeatChat(chats, chatId, messages);
    const memory = await open();
    return {
      turn: async () => {
        const adds = exchange().map((message) => () => memory.add(message));
        if (isAwaited) for (const add of adds) await add();
        else {
          for (const add of adds) void add();
          await memory.flushed();
        }
      },
      whole: async () => memory.messages.length,
      reopened: async () => (await open()).messages.length,
    };
  };
}

interface Flushing {
  flushed(): Promise<void>;
}

interface OwnMemory extends Memory<Message> {
  serialize(): Promise<string> | string;
}

/** The framework's memory, which keeps nothing: what a program can keep of it is its serialized text. */
export function beeMemory(): Keeper {
  const { UnconstrainedMemory } = beeai<{
    UnconstrainedMemory: (new () => OwnMemory) & { fromSerialized(text: string): Promise<OwnMemory> | OwnMemory };
  }>('memory/unconstrainedMemory');
  return async (messages) => {
    const memory = new UnconstrainedMemory();
    for (let added = 0; added < messages; added += 2) for (const message of exchange()) await memory.add(message);
    let text: string | null = null;
    return {
      turn: async () => {
        for (const message of exchange()) await memory.add(message);
      },
      whole: async () => memory.messages.length,
      reopened: async () => {
        text ??= await memory.serialize();
        return (await UnconstrainedMemory.fromSerialized(text)).messages.length;
      },
    };
  };
}
