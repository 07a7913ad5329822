import { generateKeyPairSync, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { KeyServer, signedBy, signingKey, type KeyAnswer } from '../harness/key-server.js';
import { until } from '../harness/until.js';
import { ALICE, BEGIN, jwks, refusal, UNAUTHENTICATED } from './jwt-world.js';

const KIB = 1024;

describe('the set of keys at AUTH_JWKS_URL', () => {
  test('it is asked for once: 1,000 tokens, the first of them at the same time', async () => {
    const key = await signingKey('EdDSA');
    const { verify, server } = await jwks(key);
    const token = await signedBy(key, ALICE);
    await Promise.all(Array.from({ length: 100 }, () => verify(token)));
    for (let index = 0; index < 900; index++) await verify(token);
    expect(server.requests).toBe(1);
  });

  test('rotation: a new key is found by asking once more, and the old one is gone', async () => {
    const [before, after] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(before);
    await verify(await signedBy(before, ALICE));
    server.rotate(after);
    advance(1_001);
    await Promise.all(Array.from({ length: 50 }, async () => verify(await signedBy(after, ALICE))));
    expect(server.requests).toBe(2);
    expect(await refusal(verify(await signedBy(before, ALICE)))).toMatchObject(UNAUTHENTICATED);
  });

  test('a key that was taken back is not believed for longer than five minutes', async () => {
    const [kept, gone] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(kept, gone);
    await verify(await signedBy(gone, ALICE));
    server.rotate(kept);
    advance(5 * 60_000 + 1);
    expect(await refusal(verify(await signedBy(gone, ALICE)))).toMatchObject(UNAUTHENTICATED);
    await verify(await signedBy(kept, ALICE));
  });

  test('200 tokens of unknown keys at once ask at most once, and again only after a while', async () => {
    const [key, bogus] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(key);
    await verify(await signedBy(key, ALICE));
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => signedBy({ ...bogus, kid: `k${index}` }, ALICE)),
    );
    const storm = () => Promise.all(tokens.map((token) => refusal(verify(token))));
    for (const refused of await storm()) expect(refused).toMatchObject(UNAUTHENTICATED);
    expect(server.requests, 'just asked').toBe(1);
    advance(1_001);
    await storm();
    await storm();
    expect(server.requests, 'once for all').toBe(2);
    await verify(await signedBy(key, ALICE));
    expect(server.requests).toBe(2);
  });

  test('while the issuer is away known keys are believed, and unknown ones are not', async () => {
    const [key, other] = [await signingKey('RS256'), await signingKey('RS256')];
    const { verify, server, advance } = await jwks(key);
    await verify(await signedBy(key, ALICE));
    await server.stop();
    for (const ms of [1_001, 5 * 60_000, 20 * 60_000, 25 * 60_000]) {
      advance(ms);
      expect(await verify(await signedBy(key, ALICE))).toEqual(ALICE);
      expect(await refusal(verify(await signedBy(other, ALICE)))).toMatchObject(UNAUTHENTICATED);
    }
    server.rotate(other);
    await server.start();
    advance(10_001);
    expect(await verify(await signedBy(other, ALICE)), 'it is back').toEqual(ALICE);
  });

  test('while the issuer is away it is not asked for each token', async () => {
    const [key, bogus] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(key);
    await verify(await signedBy(key, ALICE));
    server.answer = { is: 'error', status: 500 };
    advance(5 * 60_000 + 1);
    for (let index = 0; index < 20; index++) {
      await verify(await signedBy(key, ALICE));
      await refusal(verify(await signedBy(bogus, ALICE)));
    }
    expect(server.requests).toBe(2);
  });

  const broken: [string, KeyAnswer][] = [
    ['the issuer answers 500', { is: 'error', status: 500 }],
    ['the issuer answers 404', { is: 'error', status: 404 }],
    ['the issuer answers with a page', { is: 'text', text: '<html>log in first</html>' }],
    ['the issuer answers with no set', { is: 'text', text: '{"error":"no"}' }],
    ['the issuer answers with keys that are none', { is: 'text', text: '{"keys":[7]}' }],
    ['the issuer answers with nothing', { is: 'text', text: '' }],
    ['the issuer answers without an end', { is: 'endless' }],
  ];

  test.each(broken)('an hour after the last set nothing is believed any more: %s', async (_, answer) => {
    const key = await signingKey('ES256');
    const { verify, server, advance } = await jwks(key);
    await verify(await signedBy(key, ALICE));
    server.answer = answer;
    advance(50 * 60_000);
    const lasting = { sub: 'alice', exp: BEGIN + 86_400 };
    expect(await verify(await signedBy(key, lasting)), 'within the hour').toEqual(lasting);
    advance(11 * 60_000);
    expect(await refusal(verify(await signedBy(key, lasting)))).toMatchObject({ code: 'internal', retryable: true });
  });

  test.each(broken)('a set that was never had: %s', async (_, answer) => {
    const key = await signingKey('ES256');
    const { verify, server, advance } = await jwks(key);
    server.answer = answer;
    const refused = await refusal(verify(await signedBy(key, ALICE)));
    expect(refused).toMatchObject({ code: 'internal', retryable: true, retryAfterMs: expect.any(Number) as number });
    expect(refused.message).not.toContain(server.url);
    const asked = server.requests;
    for (let index = 0; index < 20; index++)
      expect(await refusal(verify(await signedBy(key, ALICE)))).toMatchObject({ code: 'internal' });
    expect(server.requests, 'a flood of tokens is not passed on').toBe(asked);
    server.answer = { is: 'keys' };
    advance(1_001);
    expect(await verify(await signedBy(key, ALICE)), 'a second after it can be had').toEqual(ALICE);
  });

  test('an issuer that was never reachable: `internal`, retryable, with a time', async () => {
    const key = await signingKey('ES256');
    const { verify, server } = await jwks(key);
    await server.stop();
    expect(await refusal(verify(await signedBy(key, ALICE)))).toEqual({
      code: 'internal',
      message: expect.any(String) as string,
      retryable: true,
      retryAfterMs: expect.any(Number) as number,
    });
  });

  test('a body without an end is read no further than the bound, and let go', async () => {
    const key = await signingKey('ES256');
    const { verify, server } = await jwks(key);
    server.answer = { is: 'endless' };
    expect(await refusal(verify(await signedBy(key, ALICE)))).toMatchObject({ code: 'internal' });
    await until(() => server.endless === 0, 'the connection of the endless body is closed');
    // What the kernel's buffers of both sides hold was written, too.
    expect(server.endlessBytes).toBeLessThan(32 * 1024 * 1024);
  });

  test.each([
    ['200 KiB', 200 * KIB, true],
    ['256 KiB', 256 * KIB, true],
    ['256 KiB and a byte', 256 * KIB + 1, false],
    ['300 KiB', 300 * KIB, false],
  ])('a valid set of %s (%i bytes) is taken: %s', async (_, bytes, isTaken) => {
    const [key, padded] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server } = await jwks();
    const keysWith = (padding: string) => [key.jwk, { ...padded.jwk, padding }];
    const bare = Buffer.byteLength(JSON.stringify({ keys: keysWith('') }));
    server.keys = keysWith('x'.repeat(bytes - bare));
    expect(Buffer.byteLength(JSON.stringify({ keys: server.keys }))).toBe(bytes);
    for (const signer of [key, padded]) {
      const verified = signedBy(signer, ALICE).then(verify);
      if (isTaken) expect(await verified).toEqual(ALICE);
      else expect(await refusal(verified)).toMatchObject({ code: 'internal', retryable: true });
    }
    expect(server.requests).toBe(1);
  });

  test('a redirect is not followed', async () => {
    const [key, mine] = [await signingKey('ES256'), await signingKey('ES256')];
    const elsewhere = await KeyServer.start(mine, key);
    const { verify, server } = await jwks(key);
    server.answer = { is: 'redirect', to: elsewhere.url };
    for (const signer of [mine, key])
      expect(await refusal(verify(await signedBy(signer, ALICE)))).toMatchObject({ code: 'internal', retryable: true });
    expect(elsewhere.requests).toBe(0);
  });

  test('a slow issuer is asked once for all who wait', async () => {
    const key = await signingKey('ES256');
    const { verify, server } = await jwks(key);
    server.answer = { is: 'slow' };
    const token = await signedBy(key, ALICE);
    const waiting = Promise.all(Array.from({ length: 50 }, () => verify(token)));
    await until(() => server.waiting === 1, 'the request');
    server.release();
    expect(await waiting).toHaveLength(50);
    expect(server.requests).toBe(1);
  });

  test('an issuer that does not answer is not waited for longer than five seconds', async () => {
    const key = await signingKey('ES256');
    const { verify, server } = await jwks(key);
    server.answer = { is: 'slow' };
    const began = performance.now();
    expect(await refusal(verify(await signedBy(key, ALICE)))).toMatchObject({ code: 'internal', retryable: true });
    expect(performance.now() - began).toBeLessThan(7_000);
  });
});

describe('which key of a set is meant', () => {
  test.each(['RS256', 'ES256', 'EdDSA'])('%s by a key that says neither its algorithm nor its use', async (alg) => {
    const [key, other] = [await signingKey(alg), await signingKey('RS256')];
    const { verify, server } = await jwks();
    const { alg: _alg, use: _use, ...bare } = key.jwk;
    server.keys = [other.jwk, bare];
    expect(await verify(await signedBy(key, ALICE))).toEqual(ALICE);
  });

  test('a token without a `kid` by the only key that can be meant; with several it is refused', async () => {
    const [key, other] = [await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(await signingKey('RS256'), key);
    const token = await new SignJWT(ALICE).setProtectedHeader({ alg: 'ES256' }).sign(key.privateKey);
    expect(await verify(token)).toEqual(ALICE);
    server.rotate(key, other);
    advance(5 * 60_000 + 1);
    expect(await refusal(verify(token))).toMatchObject(UNAUTHENTICATED);
  });

  test('a key for encryption signs nothing', async () => {
    const key = await signingKey('ES256');
    const { verify, server } = await jwks();
    server.keys = [{ ...key.jwk, use: 'enc' }];
    expect(await refusal(verify(await signedBy(key, ALICE)))).toMatchObject(UNAUTHENTICATED);
  });

  test('a key of the set that is broken harms only the tokens that name it', async () => {
    const [key, broken] = [await signingKey('ES256'), await signingKey('ES256')];
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const { verify, server } = await jwks();
    const weakJwk = { ...weak.publicKey.export({ format: 'jwk' }), kid: 'weak', alg: 'RS256' };
    server.keys = [{ ...broken.jwk, x: 'AAAA' }, weakJwk, { kty: 'EC', kid: 'empty', crv: 'P-256' }, key.jwk];
    const text = ['{"alg":"RS256","kid":"weak"}', JSON.stringify(ALICE)]
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
    const byWeak = `${text}.${sign('sha256', Buffer.from(text), weak.privateKey).toString('base64url')}`;
    for (const token of [await signedBy(broken, ALICE), await signedBy({ ...broken, kid: 'empty' }, ALICE), byWeak]) {
      const outcome = await verify(token).then(
        () => 'believed',
        (error: Error) => error.name,
      );
      expect.soft(outcome).toBe('ChatError');
      expect(await verify(await signedBy(key, ALICE)), 'the others').toEqual(ALICE);
    }
    expect(server.requests).toBe(1);
  });

  test('a token that names a broken key, signed by nobody, keeps no new key from being found', async () => {
    const [key, broken, fresh] = [await signingKey('ES256'), await signingKey('ES256'), await signingKey('ES256')];
    const { verify, server, advance } = await jwks(key);
    server.keys = [{ ...broken.jwk, x: 'AAAA' }, key.jwk];
    await verify(await signedBy(key, ALICE));
    await verify(`${(await signedBy(broken, ALICE)).split('.').slice(0, 2).join('.')}.AAAA`).catch(() => undefined);
    server.keys = [{ ...broken.jwk, x: 'AAAA' }, fresh.jwk];
    advance(1_001);
    expect(await verify(await signedBy(fresh, ALICE))).toEqual(ALICE);
  });
});
