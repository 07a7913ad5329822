import { useState } from 'react';
import { useClient } from '../../react/index.js';

/**
 * The id of the chat that does not exist yet: another one with each visit, and with each person.
 *
 * @param visit null where another chat is open: the id stays, since that may be the chat which began under it
 */
export function useNewId(visit: number | null): string {
  const client = useClient();
  const [held, setHeld] = useState(() => ({ client, visit, id: client.newId() }));
  if ((visit === null || held.visit === visit) && held.client === client) return held.id;
  const next = { client, visit, id: client.newId() };
  setHeld(next);
  return next.id;
}
