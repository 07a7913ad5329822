import type { Args, Result } from '../../../protocol/index.js';
import type { ChatFilter, Store } from '../../ports/store.js';
import type { Identity } from '../identity.js';

/** ACC-2 as a condition of the store: the chats that the caller may read, of the kind asked for. */
export async function listChats(
  store: Store,
  identity: Identity,
  args: Args<'chat:list'>,
): Promise<Result<'chat:list'>> {
  const { scope, assistantId, status, keywords, page, pageSize } = args;
  const filter: ChatFilter = {
    tenantId: identity.tenantId,
    anyOf: readable(identity, scope),
    ...(assistantId === undefined ? {} : { assistantId }),
    ...(status === undefined ? {} : { status }),
    ...(keywords === undefined ? {} : { keywords }),
    page,
    pageSize,
  };
  const found = await store.listChats(filter);
  return {
    data: found.data,
    page: found.page,
    pageSize: found.pageSize,
    pageCount: found.pageCount,
    total: found.total,
  };
}

function readable({ userId, teamId, roles }: Identity, scope: Args<'chat:list'>['scope']): ChatFilter['anyOf'] {
  const mine = { createdBy: userId } as const;
  const team = teamId === null ? [] : [{ teamId, share: 'team' } as const];
  const open = { public: true } as const;
  switch (scope) {
    case 'mine':
      return [mine];
    case 'team':
      return team;
    case 'public':
      return [open];
    case 'all':
      return roles.includes('admin') ? [{ everything: true }] : [mine, ...team, open];
  }
}
