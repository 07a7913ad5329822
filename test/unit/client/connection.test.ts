import { describe, expect, it, vi } from 'vitest';
import { ChatError } from '../../../protocol/index.js';
import { connectedScene, scene } from './connected.js';
import { settle } from './fake-clock.js';

describe('a client and its connection', () => {
  it('CON-1: names the caller and the protocol in the handshake', async () => {
    const { network } = scene({ token: 'secret', auth: { userId: 'ada', roles: ['user'] } });
    expect((await network.next()).handshake).toEqual({ token: 'secret', userId: 'ada', roles: ['user'], protocol: 1 });
  });

  it('CON-2: is open once the server has said hello, and knows its limits', async () => {
    const { client, network } = scene();
    (await network.next()).opened();
    expect(client.connection.getSnapshot().status).toBe('connecting');
    network.link.open({ maxFrameBytes: 4_096 });
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'open', hello: { user: { userId: 'ada' } } });
    expect(client.limits.maxFrameBytes).toBe(4_096);
  });

  it('tells its watchers, with the same snapshot until something changes', async () => {
    const { client, network } = scene();
    const told = vi.fn();
    client.connection.subscribe(told);
    const before = client.connection.getSnapshot();
    expect(client.connection.getSnapshot()).toBe(before);
    (await network.next()).open();
    expect(told).toHaveBeenCalledTimes(1);
    expect(client.connection.getSnapshot()).not.toBe(before);
  });

  it('C30: asks the token function before every attempt', async () => {
    const token = vi.fn(() => 'fresh');
    const { clock, network } = await connectedScene({ token });
    network.link.drop();
    clock.advance(250);
    expect((await network.next()).handshake['token']).toBe('fresh');
    expect(token.mock.calls).toEqual([[{ refused: null }], [{ refused: null }]]);
  });

  it('C30: a dead token is asked for once more, then the client closes and stays closed', async () => {
    const asked: (string | undefined)[] = [];
    const { client, clock, network } = scene({
      token: async ({ refused }) => {
        asked.push(refused?.code);
        return 'dead';
      },
    });
    (await network.next()).refuse(new ChatError('unauthenticated'));
    (await network.next()).refuse(new ChatError('unauthenticated'));
    clock.advance(600_000);
    await settle();
    expect(asked).toEqual([undefined, 'unauthenticated']);
    expect(network.links).toHaveLength(2);
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'closed', error: { code: 'unauthenticated' } });
    expect(clock.pending).toBe(0);
  });

  it('C30: a token function that fails is asked again later; one that refuses for good closes the client', async () => {
    let failure: Error = new Error('the identity provider is away');
    const { client, clock } = scene({ token: () => Promise.reject(failure) });
    await settle();
    expect(client.connection.getSnapshot()).toMatchObject({
      status: 'waiting',
      error: { details: { reason: 'token_failed' } },
    });
    failure = new ChatError('forbidden', 'logged out');
    clock.advance(10_000);
    await settle();
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'closed', error: { message: 'logged out' } });
  });

  it('C30, CON-5: renews an expired token in place', async () => {
    let count = 0;
    const { client, network } = await connectedScene({ token: () => `token ${++count}` });
    network.link.emit('goaway', { code: 'token_expired', reconnect: true });
    await settle();
    expect(network.link.last('auth:refresh').args).toEqual({ token: 'token 2' });
    network.link.last('auth:refresh').ok({ expiresAt: null });
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'open', goaway: null });
  });

  it('gives up an attempt that takes too long', async () => {
    const { client, clock, network } = scene({ connectTimeoutMs: 5_000 });
    const hanging = await network.next();
    clock.advance(5_000);
    expect(client.connection.getSnapshot()).toMatchObject({
      status: 'waiting',
      error: { details: { reason: 'unreachable' } },
    });
    expect(hanging.state).toBe('gone');
  });

  it('closes with unsupported where the server speaks another protocol', async () => {
    const { client, network } = scene();
    (await network.next()).opened().emit('hello', { protocol: 2, limits: {} });
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'closed', error: { code: 'unsupported' } });
  });

  it('C58: a page that wakes connects at once', async () => {
    const { client, clock, network, wake, ids } = await connectedScene();
    ids.chance = 0.99;
    network.link.drop();
    expect(client.connection.getSnapshot().status).toBe('waiting');
    clock.advance(1);
    wake();
    expect(client.connection.getSnapshot().status).toBe('connecting');
    expect(await network.next()).not.toBe(network.links[0]);
  });

  it('C58: a link that does not answer after a sleep is replaced, one that does stays', async () => {
    const { clock, network, wake } = await connectedScene();
    wake();
    network.link.last('chat:unsubscribe').refuse('not_found');
    clock.advance(10_000);
    await settle();
    expect(network.links).toHaveLength(1);
    wake();
    clock.advance(2_000);
    await settle();
    expect(network.links).toHaveLength(2);
    expect(network.links[0]?.state).toBe('gone');
  });

  it('leaves nothing behind when it is closed, and can connect again', async () => {
    const { client, clock, network } = await connectedScene();
    client.close();
    expect(network.link.state).toBe('gone');
    expect(clock.pending).toBe(0);
    expect(client.connection.getSnapshot()).toEqual({ status: 'closed', error: null });
    client.connect();
    (await network.next()).open();
    expect(client.connection.getSnapshot().status).toBe('open');
  });

  it('connects at the first use where it is told to', async () => {
    const { client, network } = scene({ autoConnect: false });
    await settle();
    expect(network.links).toHaveLength(0);
    void client.call('chat:list', {}).catch(() => undefined);
    await network.next();
    expect(network.links).toHaveLength(1);
  });
});
