import { describe, expect, it } from 'vitest';
import type { Revocation, Store } from '../../../server/ports/store.js';
import { anId, at, type StoreUnderTest } from './values.js';

export function revocationContract(open: () => StoreUnderTest): void {
  const store = (): Store => open().store;
  const of = async (revokedBy: string): Promise<Revocation[]> =>
    (await store().listRevocations()).filter((one) => one.revokedBy === revokedBy);

  describe('revocations', () => {
    it('users and tokens of every tenant come back as they were stored', async () => {
      const revokedBy = anId('admin');
      const revocations: Revocation[] = [
        { tenantId: 'acme', userId: 'ann "the" \\ü🙂', revokedBy, revokedAt: at(1) },
        { tenantId: 'acme', tokenId: 'token-1', revokedBy, revokedAt: at(2) },
        { tenantId: null, userId: 'ann', revokedBy, revokedAt: at(3) },
        { tenantId: null, tokenId: 'ann', revokedBy, revokedAt: at(4) },
      ];
      for (const revocation of revocations) await store().saveRevocation(revocation);
      expect(await of(revokedBy)).toEqual(revocations);
    });

    it('of one user or token the last one stands', async () => {
      const userId = anId('user');
      const [first, last] = [anId('admin'), anId('admin')];
      await store().saveRevocation({ tenantId: null, userId, revokedBy: first, revokedAt: at(1) });
      await store().saveRevocation({ tenantId: null, userId, revokedBy: last, revokedAt: at(9) });
      expect(await of(first)).toEqual([]);
      expect(await of(last)).toEqual([{ tenantId: null, userId, revokedBy: last, revokedAt: at(9) }]);
    });
  });
}
