import type { Revocation } from '../../ports/store.js';
import type { Database } from './database.js';

export async function saveRevocation(database: Database, revocation: Revocation): Promise<void> {
  const { tenantId, revokedBy, revokedAt } = revocation;
  const userId = 'userId' in revocation ? revocation.userId : null;
  const tokenId = 'tokenId' in revocation ? revocation.tokenId : null;
  const subject = JSON.stringify([tenantId, userId, tokenId]);
  await database.write((client) =>
    client.agentRevocation.upsert({
      where: { subject },
      create: { subject, tenantId, userId, tokenId, revokedBy, revokedAt },
      update: { revokedBy, revokedAt },
    }),
  );
}

export async function listRevocations(database: Database): Promise<Revocation[]> {
  const rows = await database.read((client) => client.agentRevocation.findMany());
  return rows.map(({ tenantId, userId, tokenId, revokedBy, revokedAt }) => ({
    tenantId,
    ...(userId === null ? { tokenId: String(tokenId) } : { userId }),
    revokedBy,
    revokedAt: revokedAt.toISOString(),
  }));
}
