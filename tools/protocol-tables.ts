// npm run docs: the tables of docs/protocol.md, from the schemas, the tables of commands and errors, and the metrics.
import * as z from 'zod';
import { agentCommands, chatEvent, commands, ERRORS, op, type CommandSpec } from '../protocol/index.js';
import { createMetrics } from '../server/metrics.js';
import { describeHttp } from '../server/wire/describe/openapi.js';
import { code, table, type GeneratedPage } from './generated-blocks.js';
import { shapeText } from './shape-text.js';

export const protocolPage: GeneratedPage = {
  path: 'docs/protocol.md',
  blocks: () => ({
    commands: peoplesCommands(),
    'agent-commands': agentsCommands(),
    events: events(),
    ops: ops(),
    errors: errors(),
    routes: routes(),
    metrics: metrics(),
  }),
};

function peoplesCommands(): string {
  const rows = Object.entries(commands as Record<string, CommandSpec>).filter(([, { socket }]) => socket);
  return table(
    ['command', 'arguments', 'data', 'right', 'what it does'],
    rows.map(([name, { args, result, right, summary }]) => [
      code(name),
      code(shapeText(args, 'input')),
      code(shapeText(result, 'output')),
      right,
      summary,
    ]),
  );
}

function agentsCommands(): string {
  return table(
    ['command', 'arguments', 'data', 'right', 'what it does'],
    Object.entries(agentCommands).map(([name, { args, result, right, summary }]) => [
      code(name),
      // One by one by their own schema, so that a refusal can name the index: the arguments' schema does not look.
      code(shapeText(args, 'input').replace('ops: any JSON[]', 'ops: Op[]')),
      code(shapeText(result, 'output')),
      right,
      summary,
    ]),
  );
}

/** What every event has stands in the text. */
const ENVELOPE = ['chatId', 'epoch', 'offset', 'at', 'requestId', 'type'];

function events(): string {
  return table(
    ['type', 'fields'],
    chatEvent.options.map(({ shape }) => {
      const own = Object.entries<z.ZodType>(shape).filter(([name]) => !ENVELOPE.includes(name));
      return [code(shape.type.value), own.length === 0 ? '' : fieldsText(own, 'output')];
    }),
  );
}

function ops(): string {
  return table(
    ['op', 'fields'],
    op.options.map(({ shape }) => [
      code(shape.op.value),
      fieldsText(
        Object.entries<z.ZodType>(shape).filter(([name]) => name !== 'op'),
        'input',
      ),
    ]),
  );
}

const fieldsText = (fields: readonly (readonly [string, z.ZodType])[], side: 'input' | 'output'): string =>
  code(shapeText(z.object(Object.fromEntries(fields)), side));

function errors(): string {
  return table(
    ['code', 'HTTP', 'retry can help', 'meaning'],
    Object.entries(ERRORS).map(([name, { status, retryable, sentence }]) => [
      code(name),
      String(status),
      retryable ? 'yes' : 'no',
      sentence,
    ]),
  );
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

function routes(): string {
  const paths = describeHttp('').paths as Record<string, Record<string, Operation>>;
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary, responses }]) => {
      const success = Object.keys(responses).filter((status) => status.startsWith('2'));
      return [code(`${method.toUpperCase()} ${path}`), success.join(', '), summary];
    }),
  );
  const described = [
    [code('GET /openapi.json'), '200', 'This table with all its schemas, as OpenAPI 3.1.'],
    [code('GET /asyncapi.json'), '200', 'The sockets with all their schemas, as AsyncAPI 3.0.'],
    [code('GET /docs'), '200', 'The routes as a page to try them.'],
  ];
  return table(['method and path', 'status', 'what it does'], [...rows, ...described]);
}

/** What prom-client's types do not tell of a metric. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

function metrics(): string {
  const all = createMetrics().registry.getMetricsAsArray() as unknown as Metric[];
  return table(
    ['metric', 'kind', 'labels', 'meaning'],
    all
      .filter(({ name }) => !/^turnstream_(process|nodejs)_/.test(name))
      .map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(', '), help]),
  );
}
