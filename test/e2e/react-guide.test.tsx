import '../harness/page.js';
import { fireEvent, screen, waitFor, cleanup, render } from '@testing-library/react';
import { createElement, type ComponentType } from 'react';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import type { ChatClient } from '../../client/index.js';
import { blocksIn, pageAt, ROOT } from '../harness/page-blocks.js';
import { startServer, temporaryDirectory } from '../harness/server.js';

const GUIDE = pageAt('docs/react.md');
const ADDRESS = 'http://127.0.0.1:3000';

/** The page's programs, by the names of their files. */
const FILES = blocksIn(GUIDE, 'file');

/** What the package exports, and the source of each. */
const SOURCES = Object.entries(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, { default?: string }> })
    .exports,
).flatMap(([name, { default: built }]) =>
  built ? [[name, built.replace('./dist/', './').replace(/\.js$/, '.ts')] as const] : [],
);

/** The page's programs beside the package, and React beside both. Gives the folder. */
function installed(url: string): string {
  const directory = temporaryDirectory();
  const packages = join(directory, 'node_modules');
  const turnstream = join(packages, 'turnstream');
  mkdirSync(turnstream, { recursive: true });
  for (const room of ['client', 'protocol']) symlinkSync(join(ROOT, room), join(turnstream, room), 'dir');
  for (const name of ['react', 'react-dom']) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name), 'dir');
  const manifest = { name: 'turnstream', type: 'module', exports: Object.fromEntries(SOURCES) };
  writeFileSync(join(turnstream, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const [name, code] of FILES) writeFileSync(join(directory, name), code.replace(ADDRESS, url));
  return directory;
}

test('docs/react.md: the chat of the page streams, stops, goes on, lists, archives', { timeout: 60_000 }, async () => {
  const { url } = await startServer();
  const directory = installed(url);
  const { default: App } = (await import(join(directory, 'App.tsx'))) as { default: ComponentType };
  const { client } = (await import(join(directory, 'chat-client.ts'))) as { client: ChatClient };
  onTestFinished(() => {
    cleanup();
    client.close();
  });
  expect(client.connection.getSnapshot().status).toBe('idle');
  render(createElement(App));
  await waitFor(() => expect(screen.getByText('Up to date')).toBeTruthy());
  const say = (text: string): void => {
    fireEvent.change(screen.getByLabelText('Message'), { target: { value: text } });
    fireEvent.click(screen.getByText('Send'));
  };
  const rows = (): string[] => [...document.querySelectorAll('li')].map((row) => row.textContent ?? '');

  say('hello there');
  expect(rows()).toEqual(['hello there']);
  await waitFor(() => expect(rows()).toEqual(['hello there', 'hello there']));
  await waitFor(() => expect(screen.queryByText('Stop')).toBeNull());

  const words = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ');
  say(words);
  await waitFor(() => expect(rows()[3]).toContain('word1'));
  fireEvent.click(screen.getByText('Stop'));
  await waitFor(() => expect(screen.getByText('Go on')).toBeTruthy());
  expect(rows()[3]).not.toContain('word499');
  fireEvent.click(screen.getByText('Go on'));
  await waitFor(() => expect(screen.getByText('Stop')).toBeTruthy());

  await waitFor(() => expect(screen.getByText('Archive')).toBeTruthy());
  fireEvent.click(screen.getByText('Archive'));
  await waitFor(() => expect(screen.queryByText('Archive')).toBeNull());
  fireEvent.click(screen.getAllByText('New chat').at(-1) as HTMLElement);
  expect(rows()).toEqual([]);
});

/** The compiler reads React's types, on a machine that is busy with other tests. */
const COMPILES_SLOWLY = { timeout: 120_000 };

test('docs/react.md: every program compiles, strictly', COMPILES_SLOWLY, () => {
  expect(FILES.size).toBeGreaterThan(5);
  const blocks = [...GUIDE.matchAll(/^```(?:ts|tsx)\b/gm)];
  expect(blocks, 'each block has a name').toHaveLength(FILES.size);
  const modules = new Map([...FILES].map(([name, code]) => [join(ROOT, 'docs', name), code]));
  const read = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { compilerOptions } = read.config as { compilerOptions: object };
  const paths = Object.fromEntries(
    SOURCES.map(([name, source]) => [name.replace('.', 'turnstream'), [join(ROOT, source)]]),
  );
  const { options } = ts.parseJsonConfigFileContent(
    { compilerOptions: { ...compilerOptions, paths }, files: [join(ROOT, 'client', 'index.ts')] },
    ts.sys,
    ROOT,
  );
  const host = ts.createCompilerHost(options);
  host.fileExists = (path) => modules.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => modules.get(path) ?? ts.sys.readFile(path);
  const program = ts.createProgram([...modules.keys()], options, host);
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file?.text.slice(0, start).split('\n').length ?? 0;
    return `${file?.fileName ?? ''}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
});
