import { Audience, startVariant, type Variant } from './load/audience.js';
import { pinLoad } from './machine.js';
pinLoad();
const variants: Variant[] = [
  { name: 'ts0', kind: 'turnstream', options: { windowMs: 0 } },
  { name: 'ts0-engine', kind: 'turnstream', options: { windowMs: 0, isDirect: false } },
  { name: 'sio', kind: 'socket.io' },
  { name: 'ws', kind: 'ws' },
  { name: 'ws-frame', kind: 'ws', options: { isReadyFrame: true } },
];
const only = process.argv[2]?.split(',');
for (const n of (process.argv[3] ?? '1,10,100,1000').split(',').map(Number)) for (const v of variants.filter((v) => !only || only.includes(v.name))) {
  const s = await startVariant(v);
  const a = await Audience.gather(s, v.kind, { chats: 1, perChat: n, tokens: 'numbers' });
  await s.call('saturate', { chatId: 'chat-0', ms: 300 }).then((r: any) => a.tally.expect(r.appends * n, 'warm'));
  const out = [];
  for (let i = 0; i < 3; i++) {
    a.tally.clear();
    const c = await s.cpu(); const t = performance.now();
    const { appends } = await s.call<{ appends: number }>('saturate', { chatId: 'chat-0', ms: +(process.env.MS ?? 800) });
    await a.tally.expect(appends * n, v.name);
    out.push(((await s.cpu()) - c) / (appends * n), );
    var wall = performance.now() - t, h = a.tally.heard, b = a.tally.bytes / a.tally.frames;
  }
  console.log(n, v.name, out.map((x) => x.toFixed(2)).join(' '), 'deliv/s', Math.round(h! / wall! * 1000), 'bytes', b!.toFixed(0));
  a.close(); await s.stop();
}
process.exit(0);
