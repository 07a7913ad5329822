import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../server/ports/store.js';
import { Deferred } from '../../server/session/deferred.js';
import type { Identity } from '../../server/session/identity.js';
import { Revocations } from '../../server/session/revocations.js';
import { manualClock } from './manual-clock.js';
import { openSqliteStore } from './sqlite-file.js';

const admin: Identity = {
  ...{ userId: 'admin', teamId: null, tenantId: null, roles: ['admin'] },
  ...{ assistants: null, expiresAt: null, token: null },
};

test('ACC-4: a revocation stands over one that was read before it and is learned after it', async () => {
  const file = await openSqliteStore();
  onTestFinished(() => file.close());
  const { store } = file;
  const clock = manualClock();
  let mayLearn: Promise<void> = Promise.resolve();
  const slow: Pick<Store, 'saveRevocation' | 'listRevocations'> = {
    saveRevocation: (revocation) => store.saveRevocation(revocation),
    async listRevocations() {
      const read = await store.listRevocations();
      await mayLearn;
      return read;
    },
  };
  const revocations = await Revocations.load(slow, clock);
  await revocations.revoke(admin, { userId: 'ann' });
  const learned = new Deferred<void>();
  mayLearn = learned.promise;
  const learning = revocations.reload();
  clock.advance(60_000);
  const issuedAt = clock.now() - 1_000;
  const between = { ...admin, userId: 'ann', token: { tokenId: null, issuedAt } };
  expect(revocations.covers(between)).toBe(false);
  await revocations.revoke(admin, { userId: 'ann' });
  learned.resolve();
  await learning;
  expect(revocations.covers(between)).toBe(true);
});
