import Database from 'better-sqlite3';
import { mkdtempSync } from 'node:fs';
import { migrate } from './server/adapters/prisma/migrate.js';
import { systemClock } from './server/clock.js';
import { systemIds } from './server/id-source.js';
const url='file:'+mkdtempSync('/tmp/ts-')+'/x.db'; await migrate({url,clock:systemClock,ids:systemIds});
const d=new Database(url.slice(5)); d.pragma('synchronous=NORMAL'); d.pragma('cache_size=-65536'); d.pragma('wal_autocheckpoint=10000');
const at='2026-01-01T00:00:00.000+00:00'; const id=()=>systemIds.id();
const ins=(t:string,o:Record<string,unknown>,key:string)=>{ const k=Object.keys(o); return { k, sql:`INSERT INTO ${t} (${k.join(',')}) VALUES (${k.map(()=>'?').join(',')}) ON CONFLICT(${key}) DO UPDATE SET ${k.filter(x=>x!==key).map(x=>`${x}=excluded.${x}`).join(',')} WHERE deleted_at IS NULL`}; };
const m=(c:string,r:string,s:number)=>({message_id:id(),chat_id:c,request_id:r,role:'assistant',type:'text',props:JSON.stringify({content:'x'.repeat(380),k:[1,{a:null}]}),block_id:null,thread_id:null,step_id:null,assistant_id:'a',sequence:s,state:'closed',metadata:null,created_at:at,updated_at:at,created_by:'u',team_id:null,tenant_id:null});
const st=(c:string,r:string,s:number)=>({step_id:id(),chat_id:c,request_id:r,assistant_id:'a',stack_id:'s',stack_parent_id:null,stack_depth:0,type:'llm',status:'completed',input:JSON.stringify({messages:['y'.repeat(300)]}),output:JSON.stringify({content:'z'.repeat(300)}),space_snapshot:'{}',error:null,sequence:s,begin_order:s,metadata:null,created_at:at,updated_at:at,created_by:'u',team_id:null,tenant_id:null});
const tn=(c:string,r:string)=>({request_id:r,chat_id:c,assistant_id:'a',status:'queued',background:0,attempt:1,stop_reason:null,error:null,fingerprint:'f',usage:null,metadata:null,root_stack_id:'s',regenerates:null,opened_by:null,created_at:at,started_at:at,ended_at:at,updated_at:at,created_by:'u',team_id:null,tenant_id:null});
const ch=(c:string)=>({chat_id:c,title:'Ч',title_search:'ч',assistant_id:'a',mode:'chat',status:'active',preset:0,public:0,share:'private',sort:0,last_message_at:null,activity_at:at,last_sequence:0,metadata:null,created_by:'u',team_id:null,tenant_id:null,created_at:at,updated_at:at});
const P=(t:string,o:any,k:string)=>{const {sql}=ins(t,o,k);return d.prepare(sql)};
const pm=P('agent_message',m('','',1),'message_id'),ps=P('agent_step',st('','',1),'step_id'),pt=P('agent_turn',tn('',''),'request_id'),pc=P('agent_chat',ch(''),'chat_id');
const raise=d.prepare('UPDATE agent_chat SET last_sequence=max(last_sequence,?), last_message_at=?, activity_at=?, updated_at=? WHERE chat_id=?');
const g=d.prepare('SELECT attempt,status,fingerprint,created_by,chat_id FROM agent_turn WHERE request_id=?'), gc=d.prepare('SELECT deleted_at, team_id, tenant_id FROM agent_chat WHERE chat_id=?');
for (let rep=0;rep<4;rep++){ const c0=process.cpuUsage(); const t=performance.now();
for(let i=0;i<500;i++){ const c='k'+rep+'-'+i,r=id(); d.exec('BEGIN IMMEDIATE'); g.get(r); gc.get(c); pc.run(...Object.values(ch(c))); pt.run(...Object.values(tn(c,r))); pm.run(...Object.values(m(c,r,1))); raise.run(1,at,at,at,c); d.exec('COMMIT');
 d.exec('BEGIN IMMEDIATE'); g.get(r); gc.get(c); pt.run(...Object.values(tn(c,r))); for(let k=0;k<6;k++) pm.run(...Object.values(m(c,r,k+2))); for(let k=0;k<5;k++) ps.run(...Object.values(st(c,r,k+1))); raise.run(7,at,at,at,c); d.exec('COMMIT'); }
 const u=process.cpuUsage(c0); console.log('raw prepared per turn us', ((performance.now()-t)*2).toFixed(0),'cpu',((u.user+u.system)/500).toFixed(0)); }
{ const t=performance.now(); d.exec('BEGIN'); for(let i=0;i<10000;i++) pm.run(...Object.values(m('big','r',i+1))); const t1=performance.now(); d.exec('COMMIT'); console.log('10k',(t1-t).toFixed(0),'commit',(performance.now()-t1).toFixed(0)); }
