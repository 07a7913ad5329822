import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { CliProcess } from '../harness/cli-process.js';
import { Agent } from '../harness/agent.js';
import { Person } from '../harness/person.js';
import { startServer } from '../harness/server.js';
import { JWT_ENV } from '../harness/tokens.js';

const SIGNED = { ...JWT_ENV, AUTH_JWT_ISSUER: 'https://id.example', AUTH_JWT_AUDIENCE: 'turnstream' };

async function printed(args: readonly string[], env: Record<string, string> = SIGNED) {
  const cli = new CliProcess(['token', ...args], env);
  const code = await cli.ended();
  return { code, token: cli.stdout.trim(), stderr: cli.stderr };
}

describe('turnstream token', () => {
  test('prints a token that a server with the same settings takes, with all that was asked for', async () => {
    const { url } = await startServer({ env: SIGNED });
    const { code, token } = await printed(['ann', '--team', 'blue', '--tenant', 'acme', '--roles', 'user,admin']);
    expect(code).toBe(0);
    const { hello } = await new Person(url).open({ token });
    expect(hello?.user).toEqual({ userId: 'ann', teamId: 'blue', tenantId: 'acme', roles: ['user', 'admin'] });
    const { exp = 0, iat = 0, jti } = decodeJwt(token);
    expect([exp - iat, typeof jti]).toEqual([12 * 3600, 'string']);
  });

  test('for an agent, and for `turnstream say`', async () => {
    const { url } = await startServer({ env: SIGNED });
    const agent = await printed(['bot-1', '--roles', 'agent', '--assistants', 'bot,other', '--expires', '15m']);
    expect(decodeJwt(agent.token)).toMatchObject({ assistants: ['bot', 'other'] });
    await new Agent(url, ['bot']).open({ token: agent.token });
    const ann = await printed(['ann']);
    const said = new CliProcess(['say', 'hi', 'hello'], { TURNSTREAM_URL: url, TURNSTREAM_TOKEN: ann.token });
    expect([await said.ended(), said.stdout]).toEqual([0, 'hello\n']);
    const refused = new CliProcess(['say', 'hi', 'hello'], { TURNSTREAM_URL: url });
    expect([await refused.ended(), refused.stderr]).toEqual([1, 'turnstream: A token is needed.\n']);
  });

  test.each([
    [['ann'], {}, /AUTH_JWT_SECRET is not set/],
    [['ann', '--roles', 'root'], SIGNED, /roles: expected user, agent, admin/],
    [['ann', '--expires', 'soon'], SIGNED, /expires: expected a time/],
    [['ann', '--assistants', 'b o t'], SIGNED, /assistants: expected/],
    [[''], SIGNED, /user: /],
    [[], SIGNED, /token needs USER/],
  ])('%j is refused in one line, with exit code 2', async (args, env, reason) => {
    const { code, token, stderr } = await printed(args, env);
    expect([code, token]).toEqual([2, '']);
    expect(stderr).toMatch(/^turnstream: [^\n]+\n$/);
    expect(stderr).toMatch(reason);
  });
});
