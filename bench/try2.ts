import { Audience, startVariant, type Variant } from './load/audience.js';
import { pinLoad, Neighbours } from './machine.js';
pinLoad();
const variants: Variant[] = [
  { name: 'ts33', kind: 'turnstream', options: { } },
  { name: 'ts0', kind: 'turnstream', options: { windowMs: 0 } },
  { name: 'sio', kind: 'socket.io' },
  { name: 'ws', kind: 'ws' },
];
const only = process.argv[2]?.split(',');
const [c, p] = (process.argv[3] ?? '1000x1').split('x').map(Number) as [number, number];
for (const v of variants.filter((v) => !only || only.includes(v.name))) {
  const s = await startVariant(v);
  const t0 = performance.now();
  const a = await Audience.gather(s, v.kind, { prefix: 'x', chats: c, perChat: p, tokens: 'times' });
  const gathered = performance.now() - t0;
  const out = [];
  for (let i = 0; i < 3; i++) {
    a.tally.clear();
    const nb = new Neighbours();
    const c0 = await s.cpu(); const t = performance.now();
    const { appends } = await s.call<{ appends: number }>('pace', { chats: a.chats, perSecond: +(process.env.RATE ?? 50), ms: +(process.env.MS ?? 2000) });
    await a.tally.expect(appends * p, v.name);
    const cpu = (await s.cpu()) - c0;
    const d = Float64Array.from(a.tally.delays).sort();
    out.push(`${(cpu / (appends * p)).toFixed(2)}us util ${(cpu / 1000 / (performance.now() - t)).toFixed(2)} t/f ${(a.tally.heard / a.tally.frames).toFixed(2)} p50 ${d[d.length >> 1]?.toFixed(1)} p99 ${d[Math.floor(d.length * .99)]?.toFixed(1)} noise ${nb.cores(cpu).toFixed(2)}`);
  }
  console.log(v.name, `gather ${gathered.toFixed(0)}`, out);
  a.close(); await s.stop();
}
process.exit(0);
