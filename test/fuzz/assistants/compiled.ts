import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { temporaryDirectory } from '../../harness/server.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = 'test/fuzz/assistants';
const FILES = ['server-child', 'effects', 'mock-model', 'perform', 'tree', '../random'].map((name) =>
  join(FOLDER, `${name}.ts`),
);

/**
 * The module for a server process, without types, at its place among the rooms of the built package: its frames are of
 * the very code that the server runs.
 *
 * @returns its path
 */
export function compiledModule(): string {
  const folder = temporaryDirectory();
  for (const room of ['assistant', 'protocol']) symlinkSync(join(ROOT, 'dist', room), join(folder, room));
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
  for (const file of FILES) {
    const target = join(folder, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    const compilerOptions = {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
    };
    writeFileSync(target, ts.transpileModule(readFileSync(join(ROOT, file), 'utf8'), { compilerOptions }).outputText);
  }
  return join(folder, FOLDER, 'server-child.js');
}
