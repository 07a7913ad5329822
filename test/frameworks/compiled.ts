import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** What the compiler says of a program that stands in this folder, with the packages that are installed in it. */
export function faultsOf(text: string): string[] {
  const name = fileURLToPath(new URL('program.ts', import.meta.url));
  const root = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(root, (path) => ts.sys.readFile(path)).config,
    ts.sys,
    fileURLToPath(new URL('../..', import.meta.url)),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => path === name || fileExists(path);
  host.getSourceFile = (path, version, ...more) =>
    path === name ? ts.createSourceFile(path, text, version) : getSourceFile(path, version, ...more);
  const program = ts.createProgram([name], options, host);
  const faults = ts.getPreEmitDiagnostics(program, program.getSourceFile(name));
  return faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
