import { expect } from 'vitest';
import type { Message, Result } from '../../protocol/index.js';
import { Person } from './person.js';
import { until } from './until.js';
import type { As } from './peer.js';

/** A message without what events do not carry (DAT-4). */
export const plain = ({ updatedAt: _updatedAt, ...message }: Message): Omit<Message, 'updatedAt'> => message;

/** Every message of a chat over HTTP, page by page. */
export async function httpHistory(url: string, chatId: string, as: As = {}): Promise<Message[]> {
  const headers = new Headers();
  if (as.userId) headers.set('x-user-id', as.userId);
  if (as.teamId) headers.set('x-team-id', as.teamId);
  if (as.tenantId) headers.set('x-tenant-id', as.tenantId);
  if (as.roles) headers.set('x-roles', as.roles.join(','));
  const all: Message[] = [];
  for (let after = 0; ; after = all.at(-1)?.sequence ?? 0) {
    const response = await fetch(`${url}/v1/chats/${chatId}/messages?limit=200&after=${after}`, { headers });
    expect(response.status).toBe(200);
    const page = (await response.json()) as Result<'message:list'>;
    all.push(...page.messages);
    if (!page.hasMore) return all;
  }
}

/**
 * DAT-4: the HTTP history, a late joiner's snapshot and every given follower's view are equal. Gives the history.
 */
export async function expectConsistent(
  url: string,
  chatId: string,
  followers: readonly Person[] = [],
  as: As = {},
): Promise<Message[]> {
  const history = await httpHistory(url, chatId, as);
  const late = new Person(url, as);
  await late.open();
  const view = await late.follow(chatId);
  const floor = view.view?.hasMore ? (view.messages[0]?.sequence ?? 0) : 0;
  expect(view.messages.map(plain), 'DAT-4: late snapshot = history').toEqual(
    history.filter(({ sequence }) => sequence >= floor).map(plain),
  );
  for (const person of followers) {
    const mine = person.chats.get(chatId);
    if (!mine) continue;
    await until(() => (mine.position?.offset ?? 0) >= (view.position?.offset ?? 0), 'a follower at the frontier');
    const from = mine.view?.hasMore ? (mine.messages[0]?.sequence ?? 0) : 0;
    expect(mine.messages.map(plain), 'DAT-4: view = history').toEqual(
      history.filter(({ sequence }) => sequence >= from).map(plain),
    );
  }
  late.close();
  return history;
}
