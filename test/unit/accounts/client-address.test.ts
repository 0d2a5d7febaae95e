import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientOf } from '#accounts/client-address.ts';
import { parseTrustedProxies } from '#accounts/trusted-proxies.ts';

describe('a client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.255', '192.0.2.255'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['unix:', 'unknown'],
    ['', 'unknown'],
    ['192.0.2.256', 'unknown'],
  ])('%s is %s', (address, client) => {
    expect(clientOf(address)).toBe(client);
  });

  test('is every IPv4 address separately', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(clientOf(address)).toBe(address);
        expect(clientOf(`::ffff:${address}`)).toBe(address);
      }),
    );
  });

  test('is, of IPv6, the network of 64 bits that Node sees the address in', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const client = clientOf(address);
        fc.pre(client.endsWith('/64'));
        const network = new BlockList();
        network.addSubnet(client.slice(0, -3), 64, 'ipv6');
        expect(network.check(address, 'ipv6')).toBe(true);
      }),
    );
  });
});

describe('trusted proxies', () => {
  test('are addresses, networks and named ranges', () => {
    expect(parseTrustedProxies('loopback, 10.0.0.0/8,::1, fd00::/8')).toEqual([
      'loopback',
      '10.0.0.0/8',
      '::1',
      'fd00::/8',
    ]);
  });

  test.each([
    'true',
    '1',
    '',
    'proxy.example',
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '10.0.0.1/',
    'loopback,,',
    '10.0.0.1/8/8',
  ])('are not %j', (text) => {
    expect(parseTrustedProxies(text)).toBeNull();
  });
});
