import type { Revocation } from '../../ports/store.js';
import type { Database } from './database.js';

export async function saveRevocation(database: Database, revocation: Revocation): Promise<void> {
  const { tenantId, userId = null, tokenId = null, revokedBy, revokedAt } = revocation;
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
    ...(userId === null ? {} : { userId }),
    ...(tokenId === null ? {} : { tokenId }),
    revokedBy,
    revokedAt: revokedAt.toISOString(),
  }));
}
