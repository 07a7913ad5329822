import { commands, ERROR_CODES, ERRORS, type ErrorCode } from '../../../protocol/index.js';
import { AG_UI_ROUTES } from '../ag-ui/described.js';
import { AI_SDK_ROUTES } from '../ai-sdk/described.js';
import { pathParameters, queryShape } from '../http/arguments.js';
import type { FrontendRoute } from '../http/frontend-route.js';
import { boundCommands, type BoundCommand } from '../http/routes.js';
import { EVENTS_PATH } from '../http/server-sent-events.js';
import { componentSchemas, jsonSchema, reference, type JsonSchema } from './schemas.js';

const DRAFT = 'draft-2020-12';

/**
 * OpenAPI 3.1 of section 8, made from the command table, and of the routes for frontends, made from theirs: a route that is
 * not in one of them does not exist, and the other way round.
 */
export function describeHttp(serverVersion: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnstream',
      version: serverVersion,
      description: 'Realtime chat sessions for AI assistants: the same commands, schemas and errors as on the socket.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // An empty one: with AUTH_MODE=none nobody needs a token.
    security: [{ bearer: [] }, {}],
    tags: ['chat', 'message', 'turn', 'step', 'ai-sdk', 'ag-ui', 'operations'].map((name) => ({ name })),
    paths: paths(),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: errorResponses(),
      schemas: componentSchemas(DRAFT),
    },
  };
}

function paths(): Record<string, JsonSchema> {
  const all: Record<string, JsonSchema> = {};
  for (const command of boundCommands)
    (all[template(command.http.path)] ??= {})[command.http.method] = operation(command);
  for (const route of frontendRoutes) (all[template(route.path)] ??= {})[route.method] = frontendOperation(route);
  return { ...all, [template(EVENTS_PATH)]: { get: eventStream() }, ...operational };
}

const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

function operation(command: BoundCommand): JsonSchema {
  const { name, summary, http } = command;
  const { inPath, inQuery, body } = argumentSchemas(command.args, http.path);
  const hasBody = http.method === 'post' || http.method === 'patch';
  return {
    operationId: name.replace(/:(.)/, (_, letter: string) => letter.toUpperCase()),
    summary,
    tags: [name.split(':')[0]],
    parameters: [...inPath, ...(hasBody ? [] : inQuery), ...(name === 'turn:start' ? [idempotencyKey] : [])],
    ...(hasBody ? { requestBody: { required: body.required !== undefined, content: asJson(body) } } : {}),
    responses: { ...success(command), ...refusals },
  };
}

interface ArgumentSchemas {
  readonly inPath: readonly JsonSchema[];
  readonly inQuery: readonly JsonSchema[];
  /** What the path does not name. */
  readonly body: JsonSchema;
}

function argumentSchemas(args: BoundCommand['args'], path: string): ArgumentSchemas {
  const { properties = {}, required = [] } = jsonSchema(args, 'input', DRAFT) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const named = pathParameters(path);
  const needed = required.filter((name) => !named.includes(name));
  return {
    inPath: named.map((name) => ({ name, in: 'path', required: true, schema: properties[name] ?? {} })),
    inQuery: [...queryShape({ args }, path)].map(([name, { argument, form }]) => ({
      name,
      in: 'query',
      required: needed.includes(argument),
      schema: properties[argument] ?? {},
      ...(form === 'list' ? { style: 'form', explode: false } : {}),
    })),
    body: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !named.includes(name))),
      ...(needed.length > 0 ? { required: needed } : {}),
    },
  };
}

/** The status is a function of the result; these results meet every branch that the table has. */
const PROBES = [{ created: true }, { created: false }];
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; follow the chat to see it happen.',
};

function success({ http, result }: BoundCommand): JsonSchema {
  const content = asJson(jsonSchema(result, 'output', DRAFT));
  return Object.fromEntries(
    PROBES.map((probe) => http.status(probe)).map((status) => [
      status,
      { description: STATUS_WORDS[status] ?? '', content },
    ]),
  );
}

const asJson = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });

const AS_EVENTS: JsonSchema = { 'text/event-stream': { schema: { type: 'string' } } };

const idempotencyKey: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The requestId: the same key with the same body gives the turn that it started.',
  schema: jsonSchema(commands['turn:start'].args.shape.requestId, 'input', DRAFT),
};

const codesByStatus = new Map<number, ErrorCode[]>();
for (const code of ERROR_CODES)
  codesByStatus.set(ERRORS[code].status, [...(codesByStatus.get(ERRORS[code].status) ?? []), code]);

const refusals: JsonSchema = Object.fromEntries(
  [...codesByStatus.keys()].map((status) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
);

function errorResponses(): JsonSchema {
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => {
      const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].sentence}`).join(' ');
      return [
        `Refusal${status}`,
        {
          description,
          content: asJson({ type: 'object', properties: { error: reference('Error') }, required: ['error'] }),
        },
      ];
    }),
  );
}

function eventStream(): JsonSchema {
  const { inPath, inQuery } = argumentSchemas(commands['chat:subscribe'].args, EVENTS_PATH);
  const position = { type: 'string', pattern: '^[^:]{1,64}:\\d{1,15}$', examples: ['k3vN0q:17'] };
  return {
    operationId: 'chatEvents',
    summary: commands['chat:subscribe'].summary,
    tags: ['chat'],
    parameters: [
      ...inPath,
      ...inQuery.map((parameter) => (parameter.name === 'position' ? { ...parameter, schema: position } : parameter)),
      { name: 'Last-Event-ID', in: 'header', description: 'Goes before `position`.', schema: position },
    ],
    responses: {
      200: {
        description:
          'Server-Sent Events: one `snapshot` (the answer of chat:subscribe) or, on replay, none; then one `message` per ChatEvent. The id is `<epoch>:<offset>`.',
        content: AS_EVENTS,
      },
      ...refusals,
    },
  };
}

const frontendRoutes: readonly FrontendRoute[] = [...Object.values(AI_SDK_ROUTES), ...AG_UI_ROUTES];

function frontendOperation({ operationId, summary, tag, ...route }: FrontendRoute): JsonSchema {
  const { inPath, inQuery } = argumentSchemas(route.args, route.path);
  const headers = Object.entries(route.headers ?? {}).map(([name, { description, schema }]) => ({
    name,
    in: 'header',
    description,
    schema: jsonSchema(schema, 'input', DRAFT),
  }));
  const body = route.body && jsonSchema(route.body, 'input', DRAFT);
  return {
    operationId,
    summary,
    tags: [tag],
    parameters: [...inPath, ...inQuery, ...headers],
    ...(body ? { requestBody: { required: body['required'] !== undefined, content: asJson(body) } } : {}),
    responses: { ...answered(route), ...refusals },
  };
}

const answered = ({ answer, nothing }: Pick<FrontendRoute, 'answer' | 'nothing'>): JsonSchema => ({
  200:
    typeof answer === 'string'
      ? { description: `Server-Sent Events. ${answer}`, content: AS_EVENTS }
      : { description: STATUS_WORDS[200], content: asJson(jsonSchema(answer, 'output', DRAFT)) },
  ...(nothing === undefined ? {} : { 204: { description: nothing } }),
});

const operational: Record<string, JsonSchema> = Object.fromEntries(
  (
    [
      ['/healthz', 'health', 'Whether the process answers.', asJson({ type: 'object' })],
      ['/readyz', 'readiness', 'Whether to send work here: store, log, journal, draining.', asJson({ type: 'object' })],
      ['/metrics', 'metrics', 'Prometheus text.', { 'text/plain': { schema: { type: 'string' } } }],
    ] as const
  ).map(([path, operationId, summary, content]) => {
    const responses = {
      200: { description: 'Yes.', content },
      ...(operationId === 'readiness' ? { 503: { description: 'Not at present.', content } } : {}),
    };
    return [path, { get: { operationId, summary, tags: ['operations'], security: [], responses } }];
  }),
);
