import { describe, expect, test } from 'vitest';
import { Agent } from '../harness/agent.js';
import { uid } from '../harness/peer.js';
import { until } from '../harness/until.js';
import { ALICE, BOT, GRACE_MS, SHORT_OVER_MS, SHORT_S, team, type Team } from './token-scene.js';

const EXPIRED = { code: 'token_expired', reconnect: true };

/** An agent whose token ends soon, and a turn of Bob's that it runs. */
async function working() {
  const scene: Team = await team();
  const agent = await new Agent(scene.url, ['short'], { concurrency: 10 }).open({
    token: await scene.token(BOT, SHORT_S),
  });
  await agent.attach();
  const turn = async (assistantId = 'short') => {
    const requestId = uid('r');
    await scene.bob.start(scene.chatId, 'go', { requestId, assistantId, onBusy: 'parallel' });
    return requestId;
  };
  const requestId = await turn();
  const run = await agent.run(requestId);
  const messageId = await run.send('0');
  const expire = async () => {
    const { length } = agent.goaways;
    scene.clock.advance(SHORT_OVER_MS);
    await until(() => agent.goaways.length > length, 'goaway');
  };
  return { ...scene, agent, turn, requestId, run, messageId, expire };
}

describe('CON-5: the end of an agent’s token', () => {
  test('nothing of it is applied until it is renewed; then the same seq is, once', async () => {
    const { agent, run, messageId, requestId, expire, bob, his, chatId, token } = await working();
    await expire();
    expect(agent.goaways).toEqual([EXPIRED]);
    const push = { ...run.frame, seq: 2, ops: [{ op: 'append', messageId, text: ' 1' }] };
    const close = { ...run.frame, seq: 2, status: 'completed' };
    const before = his.position;
    for (const [command, args] of [
      ['turn:push', push],
      ['turn:close', close],
      ['turn:input', { requestId }],
      ['message:list', { chatId }],
      ['chat:get', { chatId }],
      ['turn:open', { chatId, assistantId: 'short' }],
      ['turn:delegate', { ...run.frame, seq: 2, assistantId: 'echo', input: 'x' }],
      ['agent:attach', { agentId: agent.agentId, assistants: [{ assistantId: 'short' }] }],
    ] as const)
      expect(await agent.refused(command, args), command).toMatchObject({ code: 'token_expired', retryable: true });
    expect((await bob.turn(requestId)).status).toBe('running');
    expect(his.position, 'nothing happened').toEqual(before);

    await agent.do('auth:refresh', { token: await token(BOT, SHORT_S) });
    expect(await agent.do('turn:push', push)).toEqual({ seq: 2 });
    expect(await agent.do('turn:push', push), 'AGT-1').toEqual({ seq: 2 });
    run.seq = 2;
    await run.append(messageId, ' 2');
    await run.close();
    expect(await bob.ended(chatId, requestId)).toMatchObject({ turn: { status: 'completed' } });
    expect(his.text(requestId)).toBe('0 1 2');
    expect(agent.disconnectReason).toBeNull();
  });

  test('a turn that comes meanwhile is answered once it is renewed', async () => {
    const { agent, turn, expire, bob, chatId, token, his } = await working();
    await expire();
    const requestId = await turn();
    const run = await agent.run(requestId);
    const ops = [{ op: 'send', messageId: uid('m'), type: 'text', props: { content: 'late' } }];
    expect(await agent.refused('turn:push', { ...run.frame, seq: 1, ops })).toMatchObject({ code: 'token_expired' });
    await agent.do('auth:refresh', { token: await token(BOT) });
    await agent.do('turn:push', { ...run.frame, seq: 1, ops });
    run.seq = 1;
    await run.close();
    await bob.ended(chatId, requestId);
    expect(his.text(requestId)).toBe('late');
  });

  test('not renewed, its connection is closed after the grace, and it may come back to its turn (AGT-4)', async () => {
    const { agent, run, messageId, requestId, expire, bob, his, chatId, token, clock } = await working();
    await expire();
    clock.advance(GRACE_MS - 2_000);
    expect(await agent.refused('turn:input', { requestId })).toMatchObject({ code: 'token_expired' });
    expect(agent.disconnectReason).toBeNull();
    clock.advance(2_000);
    await until(() => agent.disconnectReason, 'the end of the connection');
    expect(agent.disconnectReason).toBe('io server disconnect');
    expect(agent.goaways).toEqual([EXPIRED]);
    expect((await bob.turn(requestId)).status, 'running turns go on').toBe('running');
    await agent.open({ token: await token(BOT) });
    expect(await agent.attach()).toEqual({ assigned: [{ ...run.frame, lastSeq: 1 }] });
    await run.append(messageId, ' back');
    await run.close();
    await bob.ended(chatId, requestId);
    expect(his.text(requestId)).toBe('0 back');
  });

  test('a token that does not renew changes nothing', async () => {
    const { agent, run, messageId, expire, token, clock } = await working();
    const refused: [string, string][] = [
      ['forbidden', await token({ ...BOT, roles: ['user'] })],
      ['forbidden', await token({ ...BOT, roles: [] })],
      ['forbidden', await token({ ...ALICE, roles: ['agent'] })],
      ['forbidden', await token({ ...BOT, tenantId: 'other' })],
      ['unauthenticated', 'x'],
      ['token_expired', await token(BOT, -10)],
    ];
    for (const [code, shown] of refused)
      expect(await agent.refused('auth:refresh', { token: shown })).toMatchObject({ code });
    await run.append(messageId, ' 1');
    await expire();
    for (const [code, shown] of refused)
      expect(await agent.refused('auth:refresh', { token: shown })).toMatchObject({ code });
    expect(await agent.refused('turn:input', { requestId: run.requestId })).toMatchObject({ code: 'token_expired' });
    clock.advance(GRACE_MS);
    await until(() => agent.disconnectReason, 'the end, when it was to be');
  });

  test('a refresh before the end moves it', async () => {
    const { agent, run, messageId, expire, token, clock } = await working();
    clock.advance((SHORT_S - 5) * 1000);
    await agent.do('auth:refresh', { token: await token(BOT, SHORT_S) });
    clock.advance((SHORT_S - 5) * 1000);
    await run.append(messageId, ' 1');
    expect(agent.goaways).toEqual([]);
    await expire();
    expect(agent.goaways).toEqual([EXPIRED]);
  });

  test('ACC-4: a fresh token that names other assistants gives no more turns of the old ones', async () => {
    const { agent, turn, token, run, messageId, bob } = await working();
    await agent.do('auth:refresh', { token: await token(BOT, 600, { assistants: ['another'] }) });
    const requestId = await turn();
    await run.append(messageId, ' what it holds it may end');
    await run.close();
    expect(agent.runs.map((one) => one.requestId)).not.toContain(requestId);
    expect((await bob.turn(requestId)).status).toBe('queued');
    await agent.do('auth:refresh', { token: await token(BOT) });
    await agent.attach();
    await agent.run(requestId);
  });
});
