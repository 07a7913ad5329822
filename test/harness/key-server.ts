import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose';
import { onTestFinished } from 'vitest';
import { uid } from './peer.js';

/** A pair of keys of an issuer. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** The public half, as it stands in a set. */
  readonly jwk: JWK;
}

export async function signingKey(alg: string, kid = uid('kid')): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return { kid, alg, privateKey, publicKey, jwk };
}

/** A token signed by a key; `header` may say more, or something else. */
export const signedBy = (
  { alg, kid, privateKey }: SigningKey,
  claims: Record<string, unknown>,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);

/** What a {@link KeyServer} does with a request. */
export type KeyAnswer =
  | { readonly is: 'keys' }
  | { readonly is: 'error'; readonly status: number }
  | { readonly is: 'redirect'; readonly to: string }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'endless' }
  /** Answers with the keys once {@link KeyServer.release} is called. */
  | { readonly is: 'slow' };

/** An issuer's public keys on a real address, which does what a test says. */
export class KeyServer {
  requests = 0;
  answer: KeyAnswer = { is: 'keys' };
  /** Bytes of endless bodies that were written so far, and how many of those bodies are being written. */
  endlessBytes = 0;
  endless = 0;
  keys: readonly JWK[];
  readonly #slow: ServerResponse[] = [];
  #server: Server | null = null;
  #port = 0;

  private constructor(keys: readonly SigningKey[]) {
    this.keys = keys.map(({ jwk }) => jwk);
  }

  /** Listens; gone after the test. */
  static async start(...keys: readonly SigningKey[]): Promise<KeyServer> {
    const server = new KeyServer(keys);
    await server.start();
    onTestFinished(() => server.stop());
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/jwks.json`;
  }

  /** Requests that wait for {@link release}. */
  get waiting(): number {
    return this.#slow.length;
  }

  /** Replaces the keys. */
  rotate(...keys: readonly SigningKey[]): void {
    this.keys = keys.map(({ jwk }) => jwk);
  }

  release(): void {
    this.answer = { is: 'keys' };
    for (const response of this.#slow.splice(0)) this.#sendKeys(response);
  }

  /** Listens again where it did before. */
  async start(): Promise<void> {
    const server = createServer((request, response) => this.#take(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Connections to it are refused from now on. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  #take(_request: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    const { answer } = this;
    switch (answer.is) {
      case 'keys':
        return this.#sendKeys(response);
      case 'error':
        return void response.writeHead(answer.status).end('{"error":"not today"}');
      case 'redirect':
        return void response.writeHead(302, { location: answer.to }).end();
      case 'text':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(answer.text);
      case 'slow':
        return void this.#slow.push(response);
      case 'endless':
        return this.#sendForEver(response);
    }
  }

  #sendKeys(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: this.keys }));
  }

  #sendForEver(response: ServerResponse): void {
    const chunk = Buffer.alloc(16 * 1024, ' ');
    this.endless++;
    response.on('error', () => undefined);
    response.on('close', () => this.endless--);
    const more = (): void => {
      do {
        if (response.destroyed) return;
        this.endlessBytes += chunk.length;
      } while (response.write(chunk));
    };
    response.on('drain', more);
    response.writeHead(200, { 'content-type': 'application/json' });
    more();
  }
}
