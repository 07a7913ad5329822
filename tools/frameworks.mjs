// The frameworks that stores/ are tested in, installed in a package of their own: they are big and old, and nothing but
// their tests needs them.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from './run.mjs';

const folder = join(root, 'test', 'frameworks');
const stamp = join(folder, 'node_modules', '.stamp');

/** Installs what the lock file says, once per lock file. @throws {Error} with npm's words */
export async function installFrameworks() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('turnstream: installing the frameworks that stores/ are tested in\n');
  // Their peers contradict each other, and what their scripts would compile is not used here.
  const args = ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { ok, output } = await npm(args, { quiet: true, cwd: folder });
  if (!ok) throw new Error(`installing test/frameworks failed\n${output}`);
  writeFileSync(stamp, wanted);
}
