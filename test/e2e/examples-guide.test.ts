import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE = join(ROOT, 'docs', 'assistants.md');

/** Its code blocks: `ts` is a module, `ts ctx` what stands within an assistant's run. */
const BLOCKS = [...readFileSync(GUIDE, 'utf8').matchAll(/^( *)```(.+)\n([^]*?)^ *```$/gm)].map((match) => ({
  kind: match[2] ?? '',
  code: match[3] ?? '',
}));

const isImport = (line: string): boolean => line.trimStart().startsWith('import ');

/** A module that stands beside the guide. */
function moduleOf({ kind, code }: (typeof BLOCKS)[number]): string {
  if (kind === 'ts') return code;
  const lines = code.split('\n');
  return [
    "import type { Context } from 'turnstream/assistant';",
    ...lines.filter(isImport),
    'export async function run(ctx: Context): Promise<void> {',
    ...lines.filter((line) => !isImport(line)),
    '}',
  ].join('\n');
}

/** The compiler reads the AI SDK and zod, on a machine that is busy with other tests. */
const COMPILES_SLOWLY = { timeout: 120_000 };

test('docs/assistants.md: every snippet compiles against the package as it is built', COMPILES_SLOWLY, () => {
  expect(BLOCKS.length).toBeGreaterThan(10);
  expect(BLOCKS.map(({ kind }) => kind).filter((kind) => kind !== 'ts' && kind !== 'ts ctx')).toEqual([]);
  const modules = new Map(BLOCKS.map((block, index) => [join(ROOT, 'docs', `snippet-${index}.ts`), moduleOf(block)]));

  const read = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { compilerOptions } = read.config as { compilerOptions: unknown };
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions, files: [GUIDE] }, ts.sys, ROOT);
  // A snippet shows a name that the reader uses.
  const lenient = { ...options, noUnusedLocals: false };
  const host = ts.createCompilerHost(lenient);
  host.fileExists = (path) => modules.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => modules.get(path) ?? ts.sys.readFile(path);
  const program = ts.createProgram([...modules.keys()], lenient, host);
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file?.text.slice(0, start).split('\n').length ?? 0;
    return `${file?.fileName ?? ''}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
});
