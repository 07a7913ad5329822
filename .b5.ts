import { monitorEventLoopDelay } from 'node:perf_hooks';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { openPrismaStore } from './server/adapters/prisma/open.js';
import { systemClock } from './server/clock.js';
import { systemIds } from './server/id-source.js';
import type { Chat, Message, Step, Turn } from './protocol/index.js';
const dir = mkdtempSync(tmpdir()+'/ts-');
const store = await openPrismaStore({ url: `file:${dir}/t.db`, clock: systemClock, ids: systemIds, onMigrated: (n)=>console.log('migrated', n) });
const at='2026-01-01T00:00:00.000Z'; const id=()=>systemIds.id();
const chat=(chatId:string):Chat=>({chatId,title:'Червоний',assistantId:'a',mode:'chat',status:'active',preset:false,public:false,share:'private',sort:0,lastMessageAt:null,metadata:null,createdBy:'u',teamId:null,tenantId:null,createdAt:at,updatedAt:at});
const turn=(requestId:string,chatId:string,status:Turn['status']='queued'):Turn=>({requestId,chatId,assistantId:'a',status,background:false,attempt:1,stopReason:null,error:null,usage:null,metadata:null,createdBy:'u',createdAt:at,startedAt:null,endedAt:null});
const rec=(t:Turn)=>({turn:t,fingerprint:'f',rootStackId:'s',regenerates:null,openedBy:null});
const msg=(chatId:string,requestId:string,sequence:number):Message=>({messageId:id(),chatId,requestId,role:'assistant',type:'text',props:{content:'x'.repeat(380),k:[1,{a:null}]},blockId:null,threadId:null,stepId:null,assistantId:'a',sequence,state:'closed',metadata:null,createdAt:at,updatedAt:at});
const step=(chatId:string,requestId:string,sequence:number)=>({beginOrder:sequence,step:stp(chatId,requestId,sequence)});
const stp=(chatId:string,requestId:string,sequence:number):Step=>({stepId:id(),chatId,requestId,assistantId:'a',stackId:'s',stackParentId:null,stackDepth:0,type:'llm',status:'completed',input:{messages:['y'.repeat(300)]},output:{content:'z'.repeat(300)},spaceSnapshot:{},error:null,sequence,metadata:null,createdAt:at,updatedAt:at});
const time = async (n:string,f:()=>Promise<unknown>,per=1)=>{ const h=monitorEventLoopDelay({resolution:1}); h.enable(); await new Promise(r=>setTimeout(r,20)); h.reset(); const c=process.cpuUsage(); const t=performance.now(); await f(); const d=performance.now()-t; const u=process.cpuUsage(c); await new Promise(r=>setTimeout(r,20)); console.log(n.padEnd(36), (d/per).toFixed(3),'ms each; cpu us each',((u.user+u.system)/per).toFixed(0),'; max delay',(h.max/1e6).toFixed(1)); };
await store.createChat(chat('c1'));
for (let rep=0;rep<3;rep++) {
 await time('small turn (2 tx: 1 msg; 6 msgs 5 steps)',async()=>{ for(let i=0;i<500;i++){ const c='k'+rep+'-'+i, rq=id(); await store.write([{kind:'begin',record:rec(turn(rq,c)),messages:[{...msg(c,rq,1),role:'user'}],newChat:chat(c),at}]); await store.write([{kind:'end',record:rec(turn(rq,c,'completed')),messages:Array.from({length:6},(_,k)=>msg(c,rq,k+2)),deletedMessageIds:[],steps:Array.from({length:5},(_,k)=>step(c,rq,k+1)),lastSequence:7,at}]); } },500);
}
await store.close();
