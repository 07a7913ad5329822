import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksIn, pageAt, ROOT } from '../harness/page-blocks.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { Shell } from '../harness/shell.js';

const GUIDE = pageAt('docs/ag-ui.md');
const PROGRAMS = blocksIn(GUIDE, 'run');
const OUTPUTS = blocksIn(GUIDE, 'output');

describe('docs/ag-ui.md', () => {
  test.each([...PROGRAMS.keys()])('%s prints what the page says', async (name) => {
    const { url } = await startServer();
    const directory = temporaryDirectory();
    for (const [dependency, path] of [
      ['turnstream', ROOT],
      ['@ag-ui/client', join(ROOT, 'node_modules', '@ag-ui', 'client')],
    ] as const) {
      const link = join(directory, 'node_modules', dependency);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(path, link, 'dir');
    }
    writeFileSync(join(directory, name), PROGRAMS.get(name) ?? '');
    const program = new Shell(`exec node ${name}`, { cwd: directory, env: { TURNSTREAM_URL: url } });
    const code = await program.ended();
    expect({ code, output: program.output }).toEqual({ code: 0, output: OUTPUTS.get(name) });
  });

  test('every program on the page is run, and says what it prints', () => {
    expect([...GUIDE.matchAll(/^```js/gm)]).toHaveLength(PROGRAMS.size);
    expect([...OUTPUTS.keys()]).toEqual([...PROGRAMS.keys()]);
    expect(PROGRAMS.size).toBeGreaterThan(0);
  });
});
