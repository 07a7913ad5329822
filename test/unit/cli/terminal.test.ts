import { expect, test } from 'vitest';
import { Terminal } from '../../../server/cli/terminal.js';

/** Two streams, and what came to both of them in its order. */
function streams(isTTY: { out: boolean; err: boolean }) {
  let seen = '';
  const write = (text: string | Uint8Array): boolean => {
    seen += String(text);
    return true;
  };
  return { terminal: new Terminal({ write, isTTY: isTTY.out }, { write, isTTY: isTTY.err }), seen: () => seen };
}

test('on a screen a note stands on a line of its own, and one line break is enough', () => {
  const { terminal, seen } = streams({ out: true, err: true });
  terminal.note('first');
  terminal.print('echo: half ');
  terminal.note('the connection is lost');
  terminal.note('connected again');
  terminal.print('a line\n');
  terminal.print('');
  terminal.note('last');
  expect(seen()).toBe(
    'turnstream: first\necho: half \nturnstream: the connection is lost\nturnstream: connected again\na line\nturnstream: last\n',
  );
});

test.each([
  { out: false, err: true },
  { out: true, err: false },
])('what goes into a file gets no line break that nobody wrote: %j', (isTTY) => {
  const { terminal, seen } = streams(isTTY);
  terminal.print('half');
  terminal.note('lost');
  expect(seen()).toBe('halfturnstream: lost\n');
});
