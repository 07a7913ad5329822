let LT=0, LS='';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { openPrismaStore } from './server/adapters/prisma/open.js';
import { systemClock } from './server/clock.js';
import { systemIds } from './server/id-source.js';
import type { Chat, Message, Step, Turn } from './protocol/index.js';
const dir = mkdtempSync(tmpdir()+'/ts-');
const store = await openPrismaStore({ url: `file:${dir}/t.db`, clock: systemClock, ids: systemIds, onStatement: (s)=>{const n=performance.now(); if(LT && n-LT>8) console.log('   slow',LS.slice(0,40),(n-LT).toFixed(1)); LT=n; LS=s;}, onMigrated: (n)=>console.log('migrated', n) });
const at='2026-01-01T00:00:00.000Z'; const id=()=>systemIds.id();
const chat=(chatId:string):Chat=>({chatId,title:'Червоний',assistantId:'a',mode:'chat',status:'active',preset:false,public:false,share:'private',sort:0,lastMessageAt:null,metadata:null,createdBy:'u',teamId:null,tenantId:null,createdAt:at,updatedAt:at});
const turn=(requestId:string,chatId:string,status:Turn['status']='queued'):Turn=>({requestId,chatId,assistantId:'a',status,background:false,attempt:1,stopReason:null,error:null,usage:null,metadata:null,createdBy:'u',createdAt:at,startedAt:null,endedAt:null});
const rec=(t:Turn)=>({turn:t,fingerprint:'f',rootStackId:'s',regenerates:null,openedBy:null});
const msg=(chatId:string,requestId:string,sequence:number):Message=>({messageId:id(),chatId,requestId,role:'assistant',type:'text',props:{content:'x'.repeat(380),k:[1,{a:null}]},blockId:null,threadId:null,stepId:null,assistantId:'a',sequence,state:'closed',metadata:null,createdAt:at,updatedAt:at});
const step=(chatId:string,requestId:string,sequence:number)=>({beginOrder:sequence,step:stp(chatId,requestId,sequence)});
const stp=(chatId:string,requestId:string,sequence:number):Step=>({stepId:id(),chatId,requestId,assistantId:'a',stackId:'s',stackParentId:null,stackDepth:0,type:'llm',status:'completed',input:{messages:['y'.repeat(300)]},output:{content:'z'.repeat(300)},spaceSnapshot:{},error:null,sequence,metadata:null,createdAt:at,updatedAt:at});
const time = async (n:string,f:()=>Promise<unknown>,per=1)=>{ const h=monitorEventLoopDelay({resolution:1}); h.enable(); await new Promise(r=>setTimeout(r,20)); h.reset(); const c=process.cpuUsage(); const t=performance.now(); await f(); const d=performance.now()-t; const u=process.cpuUsage(c); await new Promise(r=>setTimeout(r,20)); console.log(n.padEnd(36), (d/per).toFixed(3),'ms each; cpu us each',((u.user+u.system)/per).toFixed(0),'; max delay',(h.max/1e6).toFixed(1)); };
await store.createChat(chat('c1'));
for (let r=0;r<3;r++) { const rq=id(); await store.write([{kind:'begin',record:rec(turn(rq,'c1')),messages:[],newChat:null,at}]);
 const messages=Array.from({length:10000},(_,i)=>msg('c1',rq,r*10000+i+1));
 const w={kind:'end' as const,record:rec(turn(rq,'c1','completed')),messages,deletedMessageIds:[],steps:[],lastSequence:(r+1)*10000,at};
 await time('end with 10k messages',()=>store.write([w])); await time('again',()=>store.write([w])); }
LT=0; await time('getMessages all 30k',()=>store.getMessages('c1',{}).then(m=>console.log(m.length)));
for (let rep=0;rep<3;rep++) {
 await time('small turn (2 tx: 1 msg; 6 msgs 5 steps)',async()=>{ for(let i=0;i<500;i++){ const c='k'+rep+'-'+i, rq=id(); await store.write([{kind:'begin',record:rec(turn(rq,c)),messages:[{...msg(c,rq,1),role:'user'}],newChat:chat(c),at}]); await store.write([{kind:'end',record:rec(turn(rq,c,'completed')),messages:Array.from({length:6},(_,k)=>msg(c,rq,k+2)),deletedMessageIds:[],steps:Array.from({length:5},(_,k)=>step(c,rq,k+1)),lastSequence:7,at}]); } },500);
 await time('newest 50',async()=>{ for(let i=0;i<500;i++) await store.getMessages('c1',{limit:50}); },500);
 await time('50 before 9000',async()=>{ for(let i=0;i<500;i++) await store.getMessages('c1',{limit:50,before:9000}); },500);
 await time('getChat',async()=>{ for(let i=0;i<500;i++) await store.getChat('c1'); },500);
 await time('getTurn',async()=>{ for(let i=0;i<500;i++) await store.getTurn('c1'); },500);
 await time('list mine',async()=>{ for(let i=0;i<100;i++) await store.listChats({tenantId:null,anyOf:[{createdBy:'u'}],page:1,pageSize:20}); },100);
}
LT=0; await time('groups of 16',async()=>{ for(let i=0;i<30;i++){ const ks=Array.from({length:16},(_,k)=>({c:`g${i}-${k}`,rq:id()})); await store.write(ks.map(({c,rq})=>({kind:'begin' as const,record:rec(turn(rq,c)),messages:[{...msg(c,rq,1),role:'user' as const}],newChat:chat(c),at}))); await store.write(ks.map(({c,rq})=>({kind:'end' as const,record:rec(turn(rq,c,'completed')),messages:Array.from({length:6},(_,k)=>msg(c,rq,k+2)),deletedMessageIds:[],steps:Array.from({length:5},(_,k)=>step(c,rq,k+1)),lastSequence:7,at}))); } },480);
LT=0; await time('delete 30k chat',()=>store.deleteChat('c1',at));
console.log(await store.getMessages('c1',{limit:2}), await store.getChat('c1'), (await store.listChats({tenantId:null,anyOf:[{createdBy:'u'}],keywords:'чЕРВ',page:1,pageSize:1})).total);
LT=0; await time('close',()=>store.close());
