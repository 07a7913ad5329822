import * as z from 'zod';
import {
  ackOf,
  AGENT_NAMESPACE,
  agentCommands,
  assignment,
  chatEvent,
  commands,
  goaway,
  hello,
  presence,
  signal,
  turnAbort,
  unsubscribed,
  type CommandSpec,
} from '../../../protocol/index.js';
import { componentSchemas, jsonSchema, reference, type JsonSchema } from './schemas.js';

const DRAFT = 'draft-7';

interface SocketCommand {
  readonly summary: string;
  readonly args: z.ZodType;
  readonly result: z.ZodType;
}

interface SocketEvent {
  readonly summary: string;
  readonly body: z.ZodType;
  /** What the receiver acknowledges it with. */
  readonly answer?: z.ZodType;
}

interface Namespace {
  readonly address: string;
  readonly description: string;
  readonly commands: Readonly<Record<string, SocketCommand>>;
  readonly events: Readonly<Record<string, SocketEvent>>;
}

const greetings: Readonly<Record<string, SocketEvent>> = {
  hello: { summary: 'The first thing a server says on a connection.', body: hello },
  goaway: { summary: 'The last thing a server says before it closes a connection on purpose.', body: goaway },
};

const namespaces: Readonly<Record<string, Namespace>> = {
  people: {
    address: '/',
    description: 'People and their frontends: commands, and the chats they follow.',
    commands: Object.fromEntries(
      Object.entries(commands as Record<string, CommandSpec>).filter(([, { socket }]) => socket),
    ),
    events: {
      ...greetings,
      events: { summary: 'Events of one chat with consecutive offsets.', body: z.array(chatEvent).min(1) },
      presence: { summary: 'Who is following a chat, on change.', body: presence },
      signal: { summary: 'A live hint of an assistant, without a place in the log.', body: signal },
      unsubscribed: {
        summary: 'The access to a chat has ended, and with it the following. No event of it comes any more.',
        body: unsubscribed,
      },
    },
  },
  agents: {
    address: AGENT_NAMESPACE,
    description: 'Remote agents: they offer assistants, get turns and push what they make of them.',
    commands: agentCommands,
    events: {
      ...greetings,
      'turn:assigned': {
        summary: 'A frame to run; acknowledged within 5 s, else another agent gets it.',
        body: assignment,
        answer: z.object({ ok: z.literal(true) }),
      },
      'turn:abort': { summary: 'A frame to leave: what it sends is refused from now on.', body: turnAbort },
    },
  },
};

/**
 * AsyncAPI 3.0 of the two Socket.IO namespaces, made from the command tables and the events' schemas. An operation that the
 * server receives is a command with its acknowledgement as the reply; one that it sends is an event.
 */
export function describeSockets(serverVersion: string): JsonSchema {
  const parts = Object.entries(namespaces).map(([name, namespace]) => describeNamespace(name, namespace));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Turnstream',
      version: serverVersion,
      description:
        'Realtime chat sessions over Socket.IO 4. A message is a Socket.IO event of that name with one argument; a reply is its acknowledgement.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(parts.map(({ name, channel }) => [name, channel])),
    operations: Object.assign({}, ...parts.map(({ operations }) => operations)) as JsonSchema,
    components: { schemas: componentSchemas(DRAFT) },
  };
}

interface Part {
  readonly name: string;
  readonly channel: JsonSchema;
  readonly operations: JsonSchema;
}

function describeNamespace(name: string, { address, description, commands: heard, events: said }: Namespace): Part {
  const messages: JsonSchema = {};
  const operations: JsonSchema = {};
  const channel = { $ref: `#/channels/${name}` };
  const add = (key: string, message: JsonSchema): JsonSchema => {
    messages[key] = message;
    return { $ref: `#/channels/${name}/messages/${key}` };
  };
  const reply = (key: string, event: string, payload: JsonSchema): JsonSchema => ({
    reply: { channel, messages: [add(`${key}.ack`, { name: event, title: `Acknowledgement of ${event}`, payload })] },
  });

  for (const [event, { summary, args, result }] of Object.entries(heard)) {
    const key = dotted(event);
    const command = add(key, { name: event, summary, payload: argumentsOf(event, args) });
    const ack = reply(key, event, jsonSchema(ackOf(result), 'output', DRAFT));
    operations[`${name}.${key}`] = { action: 'receive', channel, summary, messages: [command], ...ack };
  }
  for (const [event, { summary, body, answer }] of Object.entries(said)) {
    const key = dotted(event);
    const message = add(key, { name: event, summary, payload: jsonSchema(body, 'output', DRAFT) });
    const ack = answer ? reply(key, event, jsonSchema(answer, 'output', DRAFT)) : {};
    operations[`${name}.${key}`] = { action: 'send', channel, summary, messages: [message], ...ack };
  }
  return { name, channel: { address, description, messages }, operations };
}

/** Keys of the document may hold dots, not colons. */
const dotted = (event: string): string => event.replaceAll(':', '.');

function argumentsOf(event: string, args: z.ZodType): JsonSchema {
  const schema = jsonSchema(args, 'input', DRAFT);
  if (event !== 'turn:push') return schema;
  // Ops are parsed one by one, so that a refusal can name the bad one; in the table they are unknown.
  const { properties } = schema as { properties: JsonSchema };
  return { ...schema, properties: { ...properties, ops: { type: 'array', items: reference('Op') } } };
}
