import { Parser } from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { runAgentInput } from '../../protocol/ag-ui/index.js';
import { uiRequest } from '../../protocol/ai-sdk/index.js';
import { agentCommands, commands, type CommandSpec } from '../../protocol/index.js';
import { describeSockets } from '../../server/wire/describe/asyncapi.js';
import { describeHttp } from '../../server/wire/describe/openapi.js';

type Tree = Record<string, unknown>;

/** As a client gets it. */
const received = (document: object): Tree => JSON.parse(JSON.stringify(document)) as Tree;

function at(document: Tree, pointer: string): unknown {
  const segments = pointer
    .replace(/^#\//, '')
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return segments.reduce<unknown>((held, segment) => (held as Tree | undefined)?.[segment], document);
}

const references = (document: Tree): string[] =>
  [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');

describe('openapi.json', () => {
  const document = received(describeHttp('1.2.3'));
  const paths = document.paths as Record<string, Record<string, Tree>>;

  test('is valid OpenAPI 3.1 and every reference leads somewhere', async () => {
    const { valid, errors } = await new Validator().validate(document);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    for (const reference of references(document)) expect(at(document, reference), reference).toBeDefined();
  });

  test('has each route of the table with its parameters and every status', () => {
    for (const [name, { http }] of Object.entries(commands as Record<string, CommandSpec>)) {
      if (!http) continue;
      const operation = paths[http.path.replace(/:(\w+)/g, '{$1}')]?.[http.method];
      expect(operation, name).toBeDefined();
      const named = (operation?.parameters as Tree[])
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      expect(named).toEqual([...http.path.matchAll(/:(\w+)/g)].map((match) => match[1]));
      expect(Object.keys(operation?.responses as Tree)).toEqual(
        expect.arrayContaining(['400', '401', '403', '404', '409', '413', '415', '429', '500', '503']),
      );
    }
    expect(Object.keys(paths['/v1/chats']?.post?.responses as Tree)).toEqual(expect.arrayContaining(['200', '201']));
    expect(Object.keys(paths['/v1/chats/{chatId}/turns']?.post?.responses as Tree)).toContain('202');
    expect(paths['/v1/chats/{chatId}/events']?.get).toBeDefined();
  });

  test('has the routes for frontends, with what they take and the streams that they give', () => {
    const contents = (path: string, method: string): unknown =>
      Object.entries(paths[path]?.[method]?.responses as Record<string, Tree>)
        .filter(([status]) => Number(status) < 300)
        .map(([status, { content }]) => [status, content && Object.keys(content)]);
    const bodyOf = (path: string): string[] =>
      Object.keys(
        at(paths[path] as unknown as Tree, '#/post/requestBody/content/application~1json/schema/properties') as Tree,
      );
    const events = ['200', ['text/event-stream']];
    const json = ['200', ['application/json']];
    expect(contents('/v1/ai-sdk/chat', 'post')).toEqual([events]);
    expect(contents('/v1/ai-sdk/chat/{chatId}/stream', 'get')).toEqual([events, ['204', undefined]]);
    expect(contents('/v1/ai-sdk/chat/{chatId}/stop', 'post')).toEqual([json]);
    expect(contents('/v1/ai-sdk/chat/{chatId}/messages', 'get')).toEqual([json]);
    expect(bodyOf('/v1/ai-sdk/chat')).toEqual(Object.keys(uiRequest.shape));
    for (const root of ['/v1/ag-ui', '/v1/ag-ui/{assistantId}']) {
      expect(contents(root, 'post')).toEqual([events]);
      expect(contents(`${root}/connect`, 'post')).toEqual([events]);
      expect(contents(`${root}/stop`, 'post')).toEqual([json]);
      expect(bodyOf(root)).toEqual(Object.keys(runAgentInput.shape));
    }
    const parameters = (path: string, method: string): unknown =>
      (paths[path]?.[method]?.parameters as Tree[]).map(({ name, in: place }) => `${String(place)} ${String(name)}`);
    expect(parameters('/v1/ai-sdk/chat', 'post')).toEqual(['header x-ai-sdk-version', 'header Idempotency-Key']);
    expect(parameters('/v1/ai-sdk/chat/{chatId}/messages', 'get')).toEqual(
      expect.arrayContaining(['path chatId', 'query limit', 'query before', 'header x-ai-sdk-version']),
    );
    expect(parameters('/v1/ag-ui/{assistantId}/connect', 'post')).toEqual(['path assistantId']);
  });

  test('names no operation twice', () => {
    const names = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
    expect(new Set(names).size).toBe(names.length);
  });

  test('says what a body holds beyond the path, and which texts a query takes', () => {
    const body = at(
      paths['/v1/chats/{chatId}/turns'] as unknown as Tree,
      '#/post/requestBody/content/application~1json/schema/properties',
    ) as Tree;
    expect(Object.keys(body)).toEqual([
      'input',
      'regenerate',
      'requestId',
      'assistantId',
      'onBusy',
      'createChat',
      'metadata',
    ]);
    const query = paths['/v1/chats/{chatId}/messages']?.delete?.parameters as Tree[];
    expect(query.map(({ name, in: place, explode }) => ({ name, place, explode }))).toEqual([
      { name: 'chatId', place: 'path' },
      { name: 'ids', place: 'query', explode: false },
    ]);
  });

  test('keeps the bounds of texts that a transform cleans, and leaves the server objects open', () => {
    expect(at(document, '#/components/schemas/Chat/properties/title')).toEqual({
      anyOf: [{ type: 'string', maxLength: 500 }, { type: 'null' }],
    });
    expect(at(document, '#/components/schemas/Message/properties/props')).toEqual({ type: 'object' });
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });
});

describe('asyncapi.json', () => {
  const document = received(describeSockets('1.2.3'));
  const operations = document.operations as Record<string, Tree>;

  // The official parser takes seconds of a busy machine.
  test('is valid AsyncAPI 3.0', { timeout: 120_000 }, async () => {
    // 0 and 1 are errors and warnings; below stands the advice to use a newer version.
    const { document: parsed, diagnostics } = await new Parser().parse(JSON.stringify(document));
    expect(diagnostics.filter(({ severity }) => Number(severity) < 2)).toEqual([]);
    expect(parsed?.version()).toBe('3.0.0');
    for (const reference of references(document)) expect(at(document, reference), reference).toBeDefined();
  });

  test('has every socket command with its acknowledgement, in both namespaces', () => {
    const people = Object.entries(commands as Record<string, CommandSpec>).flatMap(([name, { socket }]) =>
      socket ? [`people.${name}`] : [],
    );
    const agents = Object.keys(agentCommands).map((name) => `agents.${name}`);
    for (const key of [...people, ...agents].map((name) => name.replaceAll(':', '.'))) {
      expect(operations[key], key).toMatchObject({ action: 'receive', reply: { channel: {}, messages: [{}] } });
    }
    expect(operations['people.admin.revoke']).toBeUndefined();
    expect((document.channels as Record<string, Tree>).agents?.address).toBe('/agents');
  });

  test('has every event that the server sends', () => {
    const said = Object.entries(operations).flatMap(([key, { action }]) => (action === 'send' ? [key] : []));
    expect(said.sort()).toEqual(
      [
        'people.hello',
        'people.events',
        'people.presence',
        'people.signal',
        'people.unsubscribed',
        'people.goaway',
        'agents.hello',
        'agents.goaway',
        'agents.turn.assigned',
        'agents.turn.abort',
      ].sort(),
    );
    expect(at(document, '#/channels/agents/messages/turn.push/payload/properties/ops')).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Op' },
    });
  });
});
