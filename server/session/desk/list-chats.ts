import type { Args, Result } from '../../../protocol/index.js';
import type { ChatFilter, Store } from '../../ports/store.js';
import { definedOf } from '../defined.js';
import type { Identity } from '../identity.js';

/** ACC-2 as a condition of the store: the chats that the caller may read, of the kind asked for. */
export function listChats(
  store: Store,
  identity: Identity,
  { scope, ...filter }: Args<'chat:list'>,
): Promise<Result<'chat:list'>> {
  return store.listChats({ ...definedOf(filter), tenantId: identity.tenantId, anyOf: readable(identity, scope) });
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
