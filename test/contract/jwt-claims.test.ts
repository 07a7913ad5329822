import { describe, expect, test } from 'vitest';
import type { Identity } from '../../server/session/identity.js';
import { createTokenAuthenticator } from '../../server/wire/token-authenticator.js';
import { ALICE, BEGIN, hs, refusal, verifierOf } from './jwt-world.js';

const none = { mustStand: (): void => undefined };

/** Whom the server takes the holder of a token with these claims for. */
async function identityOf(claims: Record<string, unknown>, clockToleranceMs = 0): Promise<Identity> {
  const { verifier } = verifierOf({ clockToleranceMs });
  const authenticator = createTokenAuthenticator({ verifier, revocations: none, clockToleranceMs });
  return authenticator.authenticate({ token: await hs(claims), claims: {} });
}

/** The refusal of a claim by its name. */
async function expectRefused(claims: Record<string, unknown>, claim: string): Promise<void> {
  expect(await refusal(identityOf(claims)), JSON.stringify(claims).slice(0, 80)).toMatchObject({
    code: 'unauthenticated',
    retryable: false,
    details: { claim },
  });
}

describe('section 10: what a token says of its holder', () => {
  test('each claim', async () => {
    expect(
      await identityOf({
        sub: 'alice',
        team_id: 'blue',
        tenant_id: 'acme',
        roles: ['user', 'agent', 'admin'],
        assistants: ['bot', 'org.example:bot-2'],
        exp: BEGIN + 100,
        iat: BEGIN - 5,
        jti: 'token-1',
      }),
    ).toEqual({
      userId: 'alice',
      teamId: 'blue',
      tenantId: 'acme',
      roles: ['user', 'agent', 'admin'],
      assistants: ['bot', 'org.example:bot-2'],
      expiresAt: (BEGIN + 100) * 1000,
      token: { tokenId: 'token-1', issuedAt: (BEGIN - 5) * 1000 },
    });
  });

  test('a token of a name alone is a user, who serves anything and whose token does not end', async () => {
    expect(await identityOf({ sub: 'alice' })).toEqual({
      userId: 'alice',
      teamId: null,
      tenantId: null,
      roles: ['user'],
      assistants: null,
      expiresAt: null,
      token: { tokenId: null, issuedAt: null },
    });
  });

  test('claims under the names of the wire are not looked at, and neither is the handshake', async () => {
    const { verifier } = verifierOf();
    const authenticator = createTokenAuthenticator({ verifier, revocations: none, clockToleranceMs: 0 });
    const said = { userId: 'root', teamId: 'red', tenantId: 'other', roles: ['admin'], sub: 'root' };
    const token = await hs({
      ...ALICE,
      userId: 'root',
      teamId: 'red',
      tenantId: 'other',
      role: 'admin',
      scope: 'admin',
    });
    expect(await authenticator.authenticate({ token, claims: said })).toMatchObject({
      userId: 'alice',
      teamId: null,
      tenantId: null,
      roles: ['user'],
    });
  });

  test('no token, and one that is longer than any, are refused before they are looked at', async () => {
    let looks = 0;
    const verifier = { verify: async () => (looks++, { sub: 'alice' }) };
    const authenticator = createTokenAuthenticator({ verifier, revocations: none, clockToleranceMs: 0 });
    expect(await refusal(authenticator.authenticate({ claims: {} }))).toMatchObject({ code: 'unauthenticated' });
    const huge = authenticator.authenticate({ token: 'x'.repeat(16_385), claims: {} });
    expect(await refusal(huge)).toMatchObject({ code: 'unauthenticated' });
    expect(looks).toBe(0);
    await authenticator.authenticate({ token: 'x'.repeat(16_384), claims: {} });
    expect(looks).toBe(1);
  });

  test('sub is there, is text, and has 1 to 200 characters that can be stored', async () => {
    expect(await identityOf({ ...ALICE, sub: 'x'.repeat(200) })).toMatchObject({ userId: 'x'.repeat(200) });
    expect(await identityOf({ ...ALICE, sub: 'auth0|Zoë 🎉' })).toMatchObject({ userId: 'auth0|Zoë 🎉' });
    for (const sub of [undefined, '', 'x'.repeat(201), 7, null, ['alice'], { a: 1 }, '\ud83c', 'a\0b'])
      await expectRefused({ ...ALICE, sub }, 'sub');
  });

  test.each(['team_id', 'tenant_id'])('%s is a name, or null, or not there', async (claim) => {
    const field = claim === 'team_id' ? 'teamId' : 'tenantId';
    expect(await identityOf({ ...ALICE, [claim]: 'x'.repeat(200) })).toMatchObject({ [field]: 'x'.repeat(200) });
    expect(await identityOf({ ...ALICE, [claim]: null })).toMatchObject({ [field]: null });
    for (const value of ['', 'x'.repeat(201), 7, ['blue'], {}, false, 'a\0b'])
      await expectRefused({ ...ALICE, [claim]: value }, claim);
  });

  test('roles: those that are none here give nothing; without the claim: a user', async () => {
    const rolesOf = async (roles: unknown) => (await identityOf({ ...ALICE, roles })).roles;
    expect(await rolesOf(undefined)).toEqual(['user']);
    expect(await rolesOf(['agent'])).toEqual(['agent']);
    expect(await rolesOf(['owner', 'admin', 'admin', 'Admin', ' admin', 'user'])).toEqual(['admin', 'user']);
    expect(await rolesOf(['__proto__', 'constructor', 'toString'])).toEqual([]);
    expect(await rolesOf([])).toEqual([]);
  });

  test('roles that are no list of texts are refused by name', async () => {
    for (const roles of ['admin', 'user admin', 7, {}, true, [7], [['admin']], [{ role: 'admin' }], [null]])
      await expectRefused({ ...ALICE, roles }, 'roles');
  });

  test('assistants: a list of ids, an empty one too, which serves none', async () => {
    expect(await identityOf({ ...ALICE, assistants: [] })).toMatchObject({ assistants: [] });
    for (const assistants of ['bot', ['a b'], [''], [7], {}, ['x'.repeat(201)]])
      await expectRefused({ ...ALICE, assistants }, 'assistants');
  });

  test('jti names the token', async () => {
    for (const jti of ['', 7, {}, 'x'.repeat(257)]) await expectRefused({ ...ALICE, jti }, 'jti');
  });

  test('exp with the tolerance is the end', async () => {
    expect(await identityOf(ALICE, 5000)).toMatchObject({ expiresAt: ALICE.exp * 1000 + 5000 });
  });

  test('the end of a token can be told as a time, however late it is', async () => {
    for (const exp of [8.64e12, 8.64e12 - 1, 9e12, 1e300]) {
      const expiresAt = await identityOf({ ...ALICE, exp }, 5000).then(
        (identity) => identity.expiresAt,
        () => null,
      );
      if (expiresAt !== null) expect(new Date(expiresAt).getTime(), `exp ${exp}`).not.toBeNaN();
    }
  });
});
