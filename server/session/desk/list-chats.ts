import { definedOf, type Args, type Result } from '../../../protocol/index.js';
import type { Store } from '../../ports/store.js';
import { readable } from '../access.js';
import type { Identity } from '../identity.js';

export const listChats = (
  store: Store,
  identity: Identity,
  { scope, ...filter }: Args<'chat:list'>,
): Promise<Result<'chat:list'>> => store.listChats({ ...definedOf(filter), ...readable(identity, scope) });
