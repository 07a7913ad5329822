import { describe, expect, test } from 'vitest';
import { commands, type CommandName } from '../../protocol/index.js';
import { createLog, type LogLevel } from '../../server/log.js';
import { Agent } from '../harness/agent.js';
import { Person } from '../harness/person.js';
import { uid } from '../harness/peer.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { askByRequest, askBySocket } from './access-asking.js';
import { asOf, DOORS, furnish, openPerson, tagOf, tokenOf } from './access-callers.js';
import { ROWS } from './access-rows.js';
import { requestAs } from './request-as.js';

type Line = Record<string, unknown> & { level: number; command: string; outcome: string; about: object };

/** Above `fatal` (60): what no LOG_LEVEL but `silent` leaves out. */
const AUDIT_LEVEL = 70;
const areAudit = (lines: readonly Line[]): boolean => lines.every(({ level }) => level === AUDIT_LEVEL);

/** A server whose audit lines a test reads. */
async function audited(env: Record<string, string> = {}, level: LogLevel = 'fatal') {
  const text: string[] = [];
  const { url } = await startServer({ env, log: createLog(level, { write: (line) => void text.push(line) }) });
  const lines = (): Line[] => text.map((line) => JSON.parse(line) as Line);
  /** `command outcome` of each, and what it was about. */
  const told = () => lines().map(({ command, outcome, about }) => [`${command} ${outcome}`, about]);
  return { url, text, lines, told };
}

const ANN = { userId: 'ann', teamId: 'blue', tenantId: 'acme' };

describe('the audit log', () => {
  test('says who started, stopped, resumed, shared and deleted what, at any LOG_LEVEL', async () => {
    const { url, lines, told } = await audited();
    const agent = await new Agent(url, ['bot'], { as: { tenantId: 'acme', userId: 'robot' } }).join();
    const ann = await new Person(url, ANN).open();
    const chatId = uid('c');
    await ann.createChat({ chatId, assistantId: 'bot', title: 's3cret' });
    await ann.follow(chatId);
    const requestId = uid('r');
    await ann.start(chatId, 's3cret', { requestId, metadata: { note: 's3cret' } });
    await agent.run(requestId);
    await ann.do('chat:update', { chatId, share: 'team', title: 's3cret too' });
    await ann.do('turn:stop', { requestId });
    await ann.do('turn:resume', { requestId });
    await ann.do('turn:get', { requestId });
    const messageId = ann.chats.get(chatId)?.messages[0]?.messageId;
    await requestAs(url, ANN, 'message:update', { messageId, props: { content: 's3cret' } });
    await requestAs(url, ANN, 'message:delete', { chatId, messageIds: messageId });
    await requestAs(url, { ...ANN, userId: 'root', roles: ['user', 'admin'] }, 'chat:delete', { chatId });
    expect(told()).toEqual([
      ['agent:attach ok', { agentId: expect.any(String) as string, assistants: ['bot'] }],
      ['chat:create ok', { chatId, assistantId: 'bot', created: true }],
      ['turn:start ok', { chatId, requestId, attempt: 1, onBusy: 'enqueue', duplicate: false }],
      ['chat:update ok', { chatId, share: 'team' }],
      ['turn:stop ok', { chatId, requestId, attempt: 1 }],
      ['turn:resume ok', { chatId, requestId, attempt: 2, duplicate: false }],
      ['message:update ok', { chatId, requestId, messageId }],
      ['message:delete ok', { chatId, messageIds: [messageId] }],
      ['chat:delete ok', { chatId }],
    ]);
    expect(lines().map(({ by }) => by)).toEqual([
      { userId: 'robot', teamId: null, tenantId: 'acme' },
      ...Array.from({ length: 7 }, () => ANN),
      { ...ANN, userId: 'root' },
    ]);
    expect(lines()[1]).toMatchObject({
      from: { address: '127.0.0.1', connectionId: ann.hello?.connectionId },
    });
    expect(lines()[8]).toMatchObject({ from: { address: '127.0.0.1', http: { id: expect.any(String) as string } } });
    expect(areAudit(lines())).toBe(true);
    expect(JSON.stringify(lines())).not.toContain('s3cret');
  });

  test('says who tried what they may not, and does not say what could not be read', async () => {
    const { url, lines, told } = await audited();
    const ann = await new Person(url, ANN).open();
    const chatId = await ann.createChat({ public: true });
    const bob = await new Person(url, { ...ANN, userId: 'bob' }).open();
    await bob.ask('chat:delete', { chatId });
    await bob.ask('turn:stop', { chatId: 'nowhere' });
    await bob.ask('chat:delete', { chatId: 42 });
    await bob.ask('chat:get', { chatId: 'nowhere' });
    expect(told().slice(1)).toEqual([
      ['chat:delete forbidden', { chatId }],
      ['turn:stop not_found', { chatId: 'nowhere' }],
    ]);
    expect(areAudit(lines())).toBe(true);
  });

  test('names tokens and never shows one; says who was shut out, and who could not come in', async () => {
    const { url, text, lines, told } = await audited(JWT_ENV);
    const token = await tokenFor(ANN, { claims: { jti: 'token-1' } });
    const admin = await tokenFor({ ...ANN, userId: 'root', roles: ['admin'] });
    const ann = await new Person(url, ANN).open({ token });
    await ann.createChat();
    const revoke = await fetch(`${url}/v1/admin/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jti: 'token-1' }),
    });
    expect(await revoke.json()).toEqual({ connections: 1 });
    await expect(new Person(url, ANN).open({ token })).rejects.toThrow();
    await expect(new Person(url, ANN).open({ token: 'forged\n{"level":70}' })).rejects.toThrow();
    expect(lines()[0]).toMatchObject({ by: { userId: 'ann', tokenId: 'token-1' } });
    expect(told().slice(1)).toEqual([
      ['admin:revoke ok', { jti: 'token-1', connections: 1 }],
      ['connect unauthenticated', undefined],
      ['connect unauthenticated', undefined],
    ]);
    expect(areAudit(lines())).toBe(true);
    expect(lines()[2]).toMatchObject({ reason: 'This token was revoked.', from: { address: '127.0.0.1' } });
    expect(text.every((line) => /^[^\n]+\n$/.test(line))).toBe(true);
    expect(text.join('')).not.toContain(token);
  });

  test('each audited command of people leaves one line with its name by each of its doors, and each other none', async () => {
    const { url, lines } = await audited({ ...JWT_ENV, RATE_LIMIT_PER_ADDRESS: '100000' });
    const worker = 'agent of this assistant';
    const agent = new Agent(url, ['bot'], { as: asOf(worker) });
    await agent.open({ token: await tokenOf(worker) });
    await agent.attach();
    const people = { owner: await openPerson(url, 'owner'), admin: await openPerson(url, 'admin') };
    const place = await furnish(
      people.owner,
      agent,
      'private',
      DOORS.map((door) => tagOf('owner', door)),
    );
    const counted = { with: 0, without: 0 };
    for (const door of DOORS)
      for (const name of Object.keys(ROWS) as CommandName[]) {
        const { audited, right, socket, http } = commands[name];
        if (door === 'socket' ? !socket : http === undefined) continue;
        const caller = right === 'admin' ? 'admin' : 'owner';
        const [row] = ROWS[name];
        const args = (await row?.args(place, tagOf('owner', door), caller)) ?? {};
        const before = lines().length;
        const { outcome } = await (door === 'socket'
          ? askBySocket(people[caller], name, args)
          : askByRequest(url, await tokenOf(caller), name, args));
        expect.soft(outcome, `${name} by ${door}`).toBe(row?.expects(caller, 'private'));
        const left = lines().slice(before);
        expect
          .soft(
            left.map((line) => [line.command, line.outcome]),
            `${name} by ${door}`,
          )
          .toEqual(audited ? [[name, outcome]] : []);
        counted[audited ? 'with' : 'without']++;
      }
    expect(counted.with).toBeGreaterThanOrEqual(Object.values(commands).filter(({ audited }) => audited).length);
    expect(counted.without).toBeGreaterThanOrEqual(Object.values(commands).filter(({ audited }) => !audited).length);
    expect(areAudit(lines())).toBe(true);
  });

  test('LOG_LEVEL=silent leaves it out', async () => {
    const { url, lines } = await audited({}, 'silent');
    await (await new Person(url, ANN).open()).createChat();
    expect(lines()).toEqual([]);
  });
});
