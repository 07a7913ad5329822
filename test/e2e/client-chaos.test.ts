import { expect, test } from 'vitest';
import { defineAssistant } from '../../assistant/index.js';
import { ChatError, type Chat } from '../../client/index.js';
import { plain, httpHistory } from '../harness/consistent.js';
import { Proxy, type Fate } from '../harness/proxy.js';
import { agentOf, clientOf, opened } from '../harness/sdk.js';
import { startServer } from '../harness/server.js';
import { until } from '../harness/until.js';

/** mulberry32 */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

import { Connection } from '../../client/connection.js';
const wire: string[] = [];
const original = Connection.prototype.request;
let n = 0;
Connection.prototype.request = function (command: string, args: never, timeoutMs: number | null, done: (o: never) => void) {
  const at = n++;
  wire.push(`${Math.round(performance.now())} #${at} ${command} ${JSON.stringify(args).slice(0, 300)}`);
  return original.call(this, command, args, timeoutMs, ((o: { type: string; data?: unknown; error?: ChatError }) => {
    wire.push(`${Math.round(performance.now())} #${at} = ${command} ${JSON.stringify(args).slice(0, 120)} -> ${o.type} ${JSON.stringify(o.data ?? o.error?.body()).slice(0, 200)}`);
    done(o as never);
  }) as never);
};
const seeds = process.env['SEEDS'] ? process.env['SEEDS'].split(',').map(Number) : Array.from({length: Number(process.env['N'] ?? 5)}, (_, i) => i + Number(process.env['FROM'] ?? 1));
test.each(seeds)('chaos %s', { timeout: 60000 }, async (seed) => {
  const random = chance(seed);
  const int = (n: number) => Math.floor(random() * n);
  const { url } = await startServer({ env: { COALESCE_MS: String(int(2) * 10), LOG_MAX_EVENTS: ['20','100','2000'][int(3)] as string, AGENT_GRACE_MS: '5000' } });
  const proxies = await Promise.all([Proxy.to(url), Proxy.to(url), Proxy.to(url)]);
  const expected = new Map<string, string>();
  let quiet = false;
  const bot = defineAssistant({ assistantId: 'bot', async run(ctx) {
    const key = `${ctx.turn.requestId}/${ctx.turn.attempt}`;
    expected.set(key, '');
    const id = await ctx.send('');
    const n = 5 + int(60);
    for (let i = 0; i < n && !ctx.abortSignal.aborted; i++) {
      const word = `${i} `;
      await ctx.append(id, word);
      expected.set(key, expected.get(key) + word);
      if (int(4) === 0) await new Promise((r) => setTimeout(r, int(3)));
      if (int(30) === 0) await ctx.send({ type: 'card', props: { n: i } });
    }
    if (int(6) === 0) throw new Error('planned');
  } });
  const agent = await agentOf(proxies[0]!.url, [bot], { flushMs: int(3), auth: { userId: 'agent', roles: ['agent'] } });
  const clients = [1, 2].map((i) => clientOf(proxies[i]!.url, { messageLimit: 5 + int(20) }));
  const { chatId } = (await clientOf(url).call('chat:create', { assistantId: 'bot' })).chat;
  const chats = await Promise.all(clients.map((c) => opened(c, chatId)));
  for (const proxy of proxies) proxy.fate = (): Fate => (!quiet && int(40) === 0 ? 'cut' : 'pass');
  const started: string[] = [];
  const problems: string[] = [];
  const deeds: Promise<unknown>[] = [];
  const note = (what: string, promise: Promise<unknown>) => deeds.push(promise.catch((e: unknown) => {
    const { code, details } = e as ChatError;
    problems.push(`${what}: ${code} ${JSON.stringify(details)}`);
  }));
  for (let i = 0; i < 60; i++) {
    const chat = chats[int(2)] as Chat;
    const view = chat.view.getSnapshot();
    switch (int(9)) {
      case 0: case 1: note('start', chat.start(`input ${i}`, { onBusy: (['enqueue', 'parallel', 'interrupt'] as const)[int(3)]! }).then(({ turn }) => started.push(turn.requestId))); break;
      case 2: if (view.running) note('stop', chat.stop(view.running.requestId)); break;
      case 3: note('older', chat.loadOlder(1 + int(10))); break;
      case 4: { const m = view.messages.filter((m) => m.state === 'closed'); const one = m[int(m.length)]; if (one) note('delete', chat.deleteMessages([one.messageId])); break; }
      case 5: { const m = view.messages.filter((m) => m.state === 'closed'); const one = m[int(m.length)]; if (one) note('update', chat.updateMessage(one.messageId, { props: { content: `edited ${i}` } })); break; }
      case 6: note('resume', chat.resume()); break;
      case 7: proxies[int(3)]!.cut(); break;
      case 8: await new Promise((r) => setTimeout(r, int(30))); break;
    }
    if (int(3) === 0) await new Promise((r) => setTimeout(r, int(20)));
  }
  await Promise.race([Promise.all(deeds), new Promise((_, rej) => setTimeout(() => rej(new Error('deeds hang')), 20000))]);
  quiet = true;
  await until(async () => { const r = await (await fetch(`${url}/v1/chats/${chatId}/turns?limit=200`)).json() as { turns: { status: string }[] }; return r.turns.every((t) => t.status !== 'queued' && t.status !== 'running'); }, 'all ended', 8000).catch(async (e) => { const r = await (await fetch(`${url}/v1/chats/${chatId}/turns?limit=200`)).json() as { turns: { status: string, requestId: string, attempt: number }[] }; console.log('HANG', seed, JSON.stringify(agent.state.getSnapshot()), JSON.stringify(r.turns.filter((t) => t.status === 'queued' || t.status === 'running').map((t) => [t.requestId, t.status, t.attempt, expected.get(`${t.requestId}/${t.attempt}`)])), wire.filter((w) => r.turns.some((t) => (t.status === 'queued' || t.status === 'running') && w.includes(t.requestId))).slice(-30).join('\n')); throw e; });
  const history = await httpHistory(url, chatId);
  const who = clientOf(url);
  const last = await opened(who, chatId);
  for (const chat of chats) {
    await until(() => chat.view.getSnapshot().status === 'live' && chat.view.getSnapshot().position?.offset === last.view.getSnapshot().position?.offset, 'live at the end').catch((e) => { throw new Error(`${e} ${JSON.stringify([chat.view.getSnapshot().status, chat.view.getSnapshot().position, last.view.getSnapshot().position])}`) });
    for (let i = 0; chat.view.getSnapshot().hasMore; i++) { await chat.loadOlder(200); if (i > 50) throw new Error('endless'); }
    const { messages, pending, turns } = chat.view.getSnapshot();
    expect(pending.filter((p) => !p.error)).toEqual([]);
    expect(messages.map(plain)).toEqual(history.map(plain));
    for (const [id, turn] of turns) {
      const real = (await who.call('turn:get', { requestId: id })).turn;
      expect(turn).toEqual(real);
    }
  }
  // one user message per started turn, none twice
  for (const id of started) expect(history.filter((m) => m.requestId === id && m.role === 'user').length).toBeLessThanOrEqual(1);
  const odd = problems.filter((p) => !/resume: (turn_not_resumable|not_found|conflict|internal .*connection_lost)|stop: not_found|update: (not_found|conflict)|start: queue_full/.test(p));
  if (odd.length) console.log(seed, odd);
});
