import type { Ack, Message, Result, SubscribeResult } from '../../protocol/index.js';
import { Peer } from '../harness/peer.js';
import { ask } from './ask.js';
import type { KnownChat } from './model.js';
import type { PersonDeed } from './plan.js';
import type { Page, Watcher } from './watcher.js';
import { identityOf, type World } from './world.js';

/** Looking at a chat in the middle of it all, and comparing with what others saw at that very position (DAT-4). */

/** Until then those who follow have come to the position. Nothing depends on it: who has not is not compared with. */
const FOLLOW_MS = 150;

export async function lookAtPage(
  world: World,
  watcher: Watcher,
  { chatId }: KnownChat,
  { query, overHttp }: Extract<PersonDeed, { do: 'page' }>,
): Promise<void> {
  const page = overHttp
    ? await httpPage(world, watcher, chatId, query)
    : await ask(world, watcher, 'message:list', { chatId, ...query });
  if (page?.ok) compare(world, chatId, page.data as Result<'message:list'>, JSON.stringify(query));
}

async function httpPage(
  world: World,
  watcher: Watcher,
  chatId: string,
  query: Readonly<Record<string, number>>,
): Promise<{ ok: boolean; data: unknown } | null> {
  const headers = { 'x-user-id': watcher.as.userId as string, 'x-team-id': 'team' };
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const url = `${world.url}/v1/chats/${chatId}/messages?${search}`;
  const response = await fetch(url, { headers }).catch(() => null);
  const data: unknown = await response?.json().catch(() => null);
  if (!response || data === null) return null;
  if (response.status >= 500 && response.status !== 503) world.fault(`GET messages answered ${response.status}`);
  return { ok: response.status === 200, data };
}

/** A newcomer subscribes, and leaves. */
export async function peek(world: World, watcher: Watcher, { chatId }: KnownChat, messageLimit: number): Promise<void> {
  const newcomer = new Peer(world.url, '/', identityOf(watcher.as.userId as string));
  if (await world.reaches(newcomer.open())) {
    const ack = (await ask(world, newcomer, 'chat:subscribe', { chatId, messageLimit })) as Ack<SubscribeResult> | null;
    if (ack?.ok) {
      const { position, messages, turns } = ack.data;
      compare(world, chatId, { position, messages: messages as Message[], turns }, 'a snapshot');
    }
  }
  newcomer.close();
}

function compare(world: World, chatId: string, page: Page, what: string): void {
  const check = (): void => {
    for (const [index, watcher] of world.watchers.entries()) {
      const differs = watcher.watched.get(chatId)?.compare(page);
      const at = `${what} of ${chatId} at ${page.position.offset}`;
      if (differs) world.fault(`DAT-4: ${at} is not what person ${index} saw: ${differs}`);
    }
  };
  setTimeout(check, FOLLOW_MS);
}
