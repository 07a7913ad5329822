import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  blockOf,
  namesIn,
  OUTPUTS,
  outputOf,
  PROGRAMS,
  sectionOf,
  WITH_PACKAGES,
} from '../harness/frameworks-guide.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { Shell } from '../harness/shell.js';
import { chat, row } from './cli-import-run.js';
import { oldSqlite } from './cli-import-tables.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = ['yao.mjs', 'atomic.mjs', 'microsoft.mjs', 'microsoft-python.mjs', 'memory.mjs'];

/** The tables of the page, and the types whose members their first columns name. */
const TABLES = [
  { room: 'yao', heading: '### `ChatStore`', types: ['ChatStore'] },
  { room: 'yao', heading: '### `SpaceStore` and `MemorySpace`', types: ['SpaceStore', 'MemorySpace'] },
  { room: 'agent-squad', heading: '## agent-squad', types: ['SquadStorage', 'SquadChatStorage'] },
  { room: 'atomic', heading: '### `ChatHistory`', types: ['BaseChatHistory', 'ChatHistory'] },
  { room: 'atomic', heading: '### `SchemaRegistry`', types: ['SchemaRegistry'] },
  { room: 'microsoft', heading: '### `ChatMessageStore`', types: ['ChatMessageStore'] },
  { room: 'microsoft', heading: '### `ThreadChatMessageStore`', types: ['ThreadChatMessageStore'] },
  { room: 'microsoft', heading: '### `MemoryChatMessageStore`', types: ['MemoryChatMessageStore'] },
  { room: 'microsoft', heading: '### `AgentThread`', types: ['AgentThread'] },
];

/** Where the page tells of a room's exports. */
const SECTIONS: Readonly<Record<string, string>> = {
  yao: '## YAO',
  'agent-squad': '## agent-squad',
  bee: '## Bee',
  atomic: '## Atomic Agents',
  microsoft: '## Microsoft Agent Framework',
  memory: '## Memory policies',
};

const fileOf = (room: string): string => join(ROOT, 'stores', room, 'index.ts');
const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
  config: { compilerOptions: unknown };
};
const { options } = ts.parseJsonConfigFileContent(
  { compilerOptions: config.compilerOptions, files: [fileOf('yao')] },
  ts.sys,
  ROOT,
);
const program = ts.createProgram(Object.keys(SECTIONS).map(fileOf), options);
const checker = program.getTypeChecker();

function exportsOf(path: string): ts.Symbol[] {
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${path} is no module`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
}

const isPublic = (member: ts.Symbol): boolean =>
  !/^(#|__)/.test(member.name) &&
  !(member.declarations ?? []).some(
    (declaration) => ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected),
  );

/** The public members of an exported class or interface, those of the class itself among them. */
function membersOf(path: string, name: string): string[] {
  const symbol = exportsOf(path).find((one) => one.name === name);
  if (!symbol) throw new Error(`${path} exports no ${name}`);
  const members = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const statics = [...(symbol.exports?.values() ?? [])].filter(({ flags }) => !(flags & ts.SymbolFlags.Prototype));
  return [...members, ...statics].filter(isPublic).map((member) => member.name);
}

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

describe('docs/frameworks.md', () => {
  test.each(HERE)('%s prints what the page says', async (name) => {
    expect(await outputOf(name)).toEqual({ code: 0, output: blockOf(OUTPUTS, name) });
  });

  test('the import ends with what the page says', async () => {
    const { url } = await startServer();
    const old = await oldSqlite();
    await old.add('agent_chat', chat('c1'), chat('c2', { sid: 'u2' }));
    await old.add('agent_history', row('c1', 'hello'), row('c2', 'there', { sid: 'u2' }));
    const command = blockOf(PROGRAMS, 'import')
      .replace('file:/path/old.db', old.url)
      .replace('report.jsonl', join(temporaryDirectory(), 'report.jsonl'));
    const env = { TURNSTREAM_URL: url, npm_config_cache: temporaryDirectory(), npm_config_update_notifier: 'false' };
    const shell = new Shell(command, { cwd: ROOT, env });
    expect(await shell.ended(), shell.output).toBe(0);
    expect(shell.output).toBe(blockOf(OUTPUTS, 'import'));
  });

  test('every program is tried, here or in test/frameworks, and says what it prints', () => {
    expect(sorted(PROGRAMS.keys())).toEqual(sorted([...HERE, ...WITH_PACKAGES, 'import']));
    expect(sorted(OUTPUTS.keys())).toEqual(sorted(PROGRAMS.keys()));
  });

  test.each(TABLES)('$heading of $room: the table names every public member, and nothing else', (table) => {
    const members = table.types.flatMap((name) => membersOf(fileOf(table.room), name));
    expect(members.length).toBeGreaterThan(0);
    expect(sorted(namesIn(sectionOf(table.heading)))).toEqual(sorted(members));
  });

  test('Bee: the tables name all that its memories have beside the framework’s', () => {
    const path = join(ROOT, 'stores', 'bee', 'create-bee-memories.ts');
    const members = ['BeeMemory', 'TokenCounts', 'MemoryClass', 'BeeMemories'].flatMap((name) => membersOf(path, name));
    expect(members.length).toBeGreaterThan(10);
    const names = namesIn(sectionOf('## Bee'));
    expect(members.filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(Object.entries(SECTIONS))('%s: the page names all that the room exports', (room, heading) => {
    // What a program uses is not told by that.
    const section = sectionOf(heading).replace(/^```[^]*?^```$/gm, '');
    const values = exportsOf(fileOf(room)).filter(({ flags }) => flags & ts.SymbolFlags.Value);
    expect(values.length).toBeGreaterThan(0);
    const isNamed = (name: string): boolean => new RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(section);
    expect(values.map(({ name }) => name).filter((name) => !isNamed(name))).toEqual([]);
  });

  test('every room has an entry of the package, and a section', () => {
    const entries = Object.keys(
      (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }).exports,
    );
    const rooms = readdirSync(join(ROOT, 'stores'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(sorted(rooms.map(({ name }) => name))).toEqual(sorted(Object.keys(SECTIONS)));
    for (const room of Object.keys(SECTIONS)) {
      const entry = room === 'memory' ? 'memory' : `stores/${room}`;
      expect(entries).toContain(`./${entry}`);
      expect(sectionOf('# Frameworks')).toContain(`turnstream/${entry}`);
    }
  });
});
