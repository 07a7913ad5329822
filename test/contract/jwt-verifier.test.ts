import { exportSPKI, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { KeyServer, signedBy, signingKey } from '../harness/key-server.js';
import { ALICE, BEGIN, hs, jwks, refusal, SECRET, signedParts, UNAUTHENTICATED, verifierOf } from './jwt-world.js';

describe('CON-1: whose signature is believed', () => {
  test('HS256 by the secret, and by no other', async () => {
    const { verify } = verifierOf();
    expect(await verify(await hs(ALICE))).toEqual(ALICE);
    expect(await refusal(verify(await hs(ALICE, {}, `${SECRET}.`)))).toMatchObject(UNAUTHENTICATED);
  });

  test.each(['RS256', 'ES256', 'EdDSA', 'Ed25519'])('%s by the key of the set that it names', async (alg) => {
    const [key, other] = [await signingKey(alg), await signingKey(alg)];
    const { verify } = await jwks(await signingKey('ES256'), key, await signingKey('RS256'));
    expect(await verify(await signedBy(key, ALICE))).toEqual(ALICE);
    expect(await refusal(verify(await signedBy({ ...other, kid: key.kid }, ALICE)))).toMatchObject(UNAUTHENTICATED);
    expect(await refusal(verify(await signedBy(other, ALICE)))).toMatchObject(UNAUTHENTICATED);
  });

  test('each byte counts: claims, head and signature of two tokens cannot be mixed', async () => {
    const { verify } = verifierOf();
    const [mine, theirs] = [await hs(ALICE), await hs({ ...ALICE, sub: 'admin' })].map((token) => token.split('.'));
    const mixed = [mine?.[0], theirs?.[1], mine?.[2]].join('.');
    expect(await refusal(verify(mixed))).toMatchObject(UNAUTHENTICATED);
  });

  test('`alg: none` is no signature, whatever stands where one would', async () => {
    const key = await signingKey('RS256');
    const { verify: bySet } = await jwks(key);
    const { verify } = verifierOf();
    const claims = Buffer.from(JSON.stringify(ALICE)).toString('base64url');
    const tokens = [new UnsecuredJWT(ALICE).encode()];
    for (const alg of ['none', 'None', 'nOnE', '', null, undefined, ['HS256'], { toString: 'HS256' }]) {
      const head = Buffer.from(JSON.stringify({ alg, kid: key.kid })).toString('base64url');
      tokens.push(`${head}.${claims}.`, `${head}.${claims}.${(await hs(ALICE)).split('.')[2]}`);
    }
    for (const token of tokens) {
      expect(await refusal(verify(token)), token).toMatchObject(UNAUTHENTICATED);
      expect(await refusal(bySet(token)), token).toMatchObject(UNAUTHENTICATED);
    }
  });

  test('a public key is no secret: HS256 with the text of it is not believed by a server of RS256', async () => {
    const key = await signingKey('RS256');
    const { verify } = await jwks(key);
    expect(await verify(await signedBy(key, ALICE)), 'the real one').toEqual(ALICE);
    const pem = await exportSPKI(key.publicKey);
    for (const text of [pem, pem.trim(), JSON.stringify(key.jwk), JSON.stringify({ keys: [key.jwk] }), key.jwk.n ?? ''])
      for (const kid of [key.kid, undefined])
        expect(await refusal(verify(await hs(ALICE, kid === undefined ? {} : { kid }, text)))).toMatchObject(
          UNAUTHENTICATED,
        );
  });

  test('a secret in a public set is not used', async () => {
    const server = await KeyServer.start();
    server.keys = [{ kty: 'oct', kid: 's', alg: 'HS256', k: Buffer.from(SECRET).toString('base64url') }];
    const { verify } = verifierOf({ keys: { jwksUrl: server.url } });
    expect(await refusal(verify(await hs(ALICE, { kid: 's' })))).toMatchObject(UNAUTHENTICATED);
  });

  test('a server of a secret believes no other algorithm, not even HS384 and HS512 with that secret', async () => {
    const { verify } = verifierOf();
    for (const alg of ['HS384', 'HS512'])
      expect(await refusal(verify(await hs(ALICE, { alg })))).toMatchObject(UNAUTHENTICATED);
    for (const alg of ['RS256', 'ES256', 'EdDSA'])
      expect(await refusal(verify(await signedBy(await signingKey(alg), ALICE)))).toMatchObject(UNAUTHENTICATED);
  });

  test.each(['RS384', 'RS512', 'PS256', 'ES384'])('a server of public keys does not believe %s', async (alg) => {
    const key = await signingKey(alg);
    const { verify } = await jwks(key);
    expect(await refusal(verify(await signedBy(key, ALICE)))).toMatchObject(UNAUTHENTICATED);
  });

  test('a key that the token brings along, or an address of keys that it names, is not looked at', async () => {
    const [key, mine] = [await signingKey('RS256'), await signingKey('RS256')];
    const { verify, server } = await jwks(key);
    const trap = await KeyServer.start(mine);
    const heads = [
      { jwk: mine.jwk },
      { jku: trap.url },
      { x5u: trap.url },
      { jwk: mine.jwk, jku: trap.url, x5u: trap.url, kid: key.kid },
      { jku: trap.url, kid: trap.url },
      { jku: trap.url, iss: trap.url },
    ];
    for (const head of heads) {
      const token = await signedBy(mine, { ...ALICE, iss: trap.url }, head);
      expect(await refusal(verify(token))).toMatchObject(UNAUTHENTICATED);
    }
    expect(trap.requests).toBe(0);
    expect(server.requests).toBe(1);
    expect(await verify(await signedBy(key, ALICE, { jku: trap.url })), 'it is ignored, not refused').toEqual(ALICE);
    expect(trap.requests).toBe(0);
  });

  test('a header that has to be understood (`crit`) and is not is refused', async () => {
    const { verify } = verifierOf();
    const heads = [{ crit: ['x'], x: 1 }, { crit: ['b64'], b64: false }, { crit: ['b64'], b64: true }, { crit: [] }];
    for (const head of heads) {
      const token = signedParts(JSON.stringify({ alg: 'HS256', ...head }), JSON.stringify(ALICE));
      if (head.b64 === true) expect(await verify(token)).toEqual(ALICE);
      else expect(await refusal(verify(token)), JSON.stringify(head)).toMatchObject(UNAUTHENTICATED);
    }
  });

  test('C26: what is no token at all is refused as one, and says nothing of the keys', async () => {
    const good = await hs(ALICE);
    const [head, body, signature] = good.split('.');
    const texts = ['', ' ', '.', '..', '...', 'a', 'a.b', 'a.b.c', 'null', '{}', '\0', 'é.ü.ñ', '😀.😀.😀', '\ud83c..'];
    texts.push(` ${good}`, `${head} .${body}.${signature}`, `${good}.`, `${good}.x.y`, `.${good}`);
    texts.push(`${head}..${signature}`, `.${body}.${signature}`, `${head}.${body}.`, `${head}.${body}`);
    texts.push(good.replaceAll('.', '\u2024'), `${head}.${body}.${signature}é`, 'x'.repeat(1_000_000));
    texts.push(`${Buffer.from('[]').toString('base64url')}.${body}.${signature}`, '.'.repeat(100_000));
    const { verify } = verifierOf();
    const { verify: bySet, server } = await jwks(await signingKey('RS256'));
    for (const text of texts) {
      const refused = await refusal(verify(text));
      expect(refused, text.slice(0, 40)).toMatchObject(UNAUTHENTICATED);
      expect(refused.message).not.toContain(SECRET);
      expect(await refusal(bySet(text)), text.slice(0, 40)).toMatchObject(UNAUTHENTICATED);
    }
    expect(server.requests, 'nobody is asked for the key of what is no token').toBe(0);
  });

  test('claims that are no object are none', async () => {
    const { verify } = verifierOf();
    expect(await verify(signedParts('{"alg":"HS256"}', '{"sub":"alice"}')), 'signed by hand').toEqual({ sub: 'alice' });
    for (const claims of ['[]', 'null', '"alice"', '7', '', '{', '{"sub":"alice"}x', '\xff'])
      expect(await refusal(verify(signedParts('{"alg":"HS256"}', claims))), claims).toMatchObject(UNAUTHENTICATED);
  });
});

describe('section 10: issuer, audience and times', () => {
  test('the issuer is that of the settings', async () => {
    const { verify } = verifierOf({ issuer: 'https://id.example' });
    expect(await verify(await hs({ ...ALICE, iss: 'https://id.example' }))).toMatchObject(ALICE);
    for (const iss of [undefined, 'https://id.example/', 'https://ID.example', '', ['https://id.example'], 7])
      expect(await refusal(verify(await hs({ ...ALICE, iss: iss })))).toMatchObject(UNAUTHENTICATED);
  });

  test('the audience is that of the settings, or among those of the token', async () => {
    const { verify } = verifierOf({ audience: 'turnstream' });
    for (const aud of ['turnstream', ['turnstream'], ['other', 'turnstream']])
      expect(await verify(await hs({ ...ALICE, aud }))).toMatchObject(ALICE);
    for (const aud of [undefined, 'other', [], ['other'], 'turnstream2', '', ['turnstream '], { 0: 'turnstream' }, 7])
      expect(await refusal(verify(await hs({ ...ALICE, aud })))).toMatchObject(UNAUTHENTICATED);
  });

  test('where the settings name neither, neither is asked for', async () => {
    const { verify } = verifierOf();
    expect(await verify(await hs({ ...ALICE, iss: 'whoever', aud: ['what', 'ever'] }))).toMatchObject(ALICE);
  });

  test.each([0, 5000, 1500])('exp and nbf hold to the millisecond, with a tolerance of %i ms', async (toleranceMs) => {
    const { verify, advance } = verifierOf({ clockToleranceMs: toleranceMs });
    const young = await hs({ ...ALICE, nbf: BEGIN + 20 });
    const old = await hs({ ...ALICE, exp: BEGIN + 100 });
    advance(20_000 - toleranceMs - 1);
    expect(await refusal(verify(young)), 'too young').toMatchObject(UNAUTHENTICATED);
    advance(1);
    expect(await verify(young), 'from nbf on').toMatchObject({ sub: 'alice' });
    advance(80_000 + 2 * toleranceMs - 1);
    expect(await verify(old), 'the last millisecond').toMatchObject({ sub: 'alice' });
    advance(1);
    expect(await refusal(verify(old)), 'at exp').toMatchObject({ code: 'token_expired' });
  });

  test('an expired token that is not of the issuer is no expired token', async () => {
    const { verify } = verifierOf({ issuer: 'us' });
    const expired = { sub: 'alice', exp: BEGIN - 1 };
    expect(await refusal(verify(await hs({ ...expired, iss: 'us' })))).toMatchObject({ code: 'token_expired' });
    expect(await refusal(verify(await hs({ ...expired, iss: 'us' }, {}, 'x'.repeat(40))))).toMatchObject(
      UNAUTHENTICATED,
    );
    expect(await refusal(verify(await hs({ ...expired, iss: 'them' })))).toMatchObject(UNAUTHENTICATED);
  });

  test.each(['exp', 'nbf', 'iat'])('%s that is no number is refused', async (claim) => {
    const { verify } = verifierOf();
    for (const value of [`${BEGIN + 100}`, null, [BEGIN + 100], {}, true])
      expect(await refusal(verify(await hs({ ...ALICE, [claim]: value })))).toMatchObject(UNAUTHENTICATED);
  });
});
