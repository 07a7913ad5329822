import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimDataDirectory } from '../../server/adapters/data-directory.js';
import { startChild } from './child.js';

describe('data directory', () => {
  let parent: string;
  let path: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'turnstream-data-'));
    path = join(parent, 'made', 'when missing');
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const inUse = () => `The data directory ${path} is in use by another server.`;

  it('section 10: a second claim is refused in one sentence, until the first is released', () => {
    const claim = claimDataDirectory(path);
    expect(() => claimDataDirectory(path)).toThrow(inUse());
    expect(() => claimDataDirectory(path)).toThrow(inUse());
    claim.release();
    claim.release();
    claimDataDirectory(path).release();
  });

  it('section 10: a directory that another process uses is refused, and free once that is killed', async () => {
    const child = startChild('data-directory-child.ts', path);
    try {
      await child.until((output) => output.includes('claimed'));
      expect(() => claimDataDirectory(path)).toThrow(inUse());
    } finally {
      await child.kill();
    }
    claimDataDirectory(path).release();
  });

  it('says in one sentence what else is wrong', () => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => claimDataDirectory(join(parent, 'file'))).toThrow(/^The data directory .* cannot be used: .*\.$/);
  });
});
