import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createAddressOf, networkOf } from '../../server/wire/address.js';

/** A request of a peer, with what it says in `X-Forwarded-For`. */
const request = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('TRUST_PROXY: whom X-Forwarded-For is believed of', () => {
  test.each([
    ['nobody is trusted', [], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['loopback is not trusted unless it is named', [], '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    ['another peer is trusted', ['10.0.0.1'], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted peer that says nothing speaks for itself', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
    ['an empty word is no word', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
    ['a trusted peer is believed', ['10.0.0.1'], '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a network is believed', ['10.0.0.0/8'], '10.7.7.7', '198.51.100.1', '198.51.100.1'],
    ['a name for networks is believed', ['loopback'], '::1', '198.51.100.1', '198.51.100.1'],
    ['a trusted IPv4 peer on an IPv6 socket', ['10.0.0.1'], '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a private network is not one of the internet', ['uniquelocal'], '172.32.0.1', '198.51.100.1', '172.32.0.1'],
  ])('%s', (_what, trusted, peer, forwarded, address) => {
    expect(createAddressOf(trusted)(request(peer, forwarded))).toBe(address);
  });

  test.each([
    ['what a caller put in front', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['a caller who claims to be a trusted proxy', '1.1.1.1, 10.0.0.9, 198.51.100.1', '198.51.100.1'],
    ['two trusted proxies in a row', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['a caller that is one of our own', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['spaces', ' 1.1.1.1 ,  198.51.100.1 ', '198.51.100.1'],
    ['an IPv6 caller', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['an IPv4 caller written as IPv6', '::ffff:198.51.100.1', '198.51.100.1'],
  ])('a chain through trusted proxies: %s', (_what, forwarded, address) => {
    expect(createAddressOf(['10.0.0.0/8'])(request('10.0.0.1', forwarded))).toBe(address);
  });

  test.each([
    'garbage',
    'unknown',
    '198.51.100.1:443',
    '[2001:db8::1]:443',
    '<script>',
    "1' or '1",
    '999.1.1.1',
    '::g',
  ])('what a trusted proxy says that is no address is one that nobody has: %s', (forwarded) => {
    expect(createAddressOf(['loopback'])(request('127.0.0.1', forwarded))).toBe('unknown');
  });

  test('garbage further away than the caller changes nothing', () => {
    const addressOf = createAddressOf(['loopback']);
    for (const garbage of ['garbage', ',,,', 'x'.repeat(10_000), '127.0.0.1, nobody'])
      expect(addressOf(request('127.0.0.1', `${garbage}, 198.51.100.1`))).toBe('198.51.100.1');
  });

  test('other headers of proxies are not looked at', () => {
    const asked = request('127.0.0.1');
    Object.assign(asked.headers, { 'x-real-ip': '1.1.1.1', forwarded: 'for=1.1.1.1', 'cf-connecting-ip': '1.1.1.1' });
    expect(createAddressOf(['loopback'])(asked)).toBe('127.0.0.1');
  });

  test('a peer that has gone already has no address', () => {
    expect(createAddressOf([])(request(undefined))).toBe('unknown');
    expect(createAddressOf(['loopback'])(request(undefined, '198.51.100.1'))).toBe('unknown');
  });

  test.each([['everybody'], ['10.0.0.0/99'], ['10.0.0.1:80'], ['*'], ['']])(
    '%j trusts nobody: it is refused',
    (word) => {
      expect(() => createAddressOf([word])).toThrow(TypeError);
    },
  );
});

describe('what counts as one address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::1', '::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['', 'unknown'],
    ['nobody', 'unknown'],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('all that one IPv6 network can call itself is one; two networks are two', () => {
    const ofHosts = Array.from({ length: 500 }, (_, host) => networkOf(`2001:db8:5:6:${host.toString(16)}::${host}`));
    expect(new Set(ofHosts)).toEqual(new Set(['2001:db8:5:6::/64']));
    expect(networkOf('2001:db8:5:7::1')).not.toBe(networkOf('2001:db8:5:6::1'));
  });
});
