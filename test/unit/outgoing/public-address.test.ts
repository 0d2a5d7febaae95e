import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicAddress } from '#outgoing/public-address.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '198.17.255.255',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00::1',
  '64:ff9b::808:808',
  '2002:808:808::1',
  '::ffff:8.8.8.8',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:c0a8:101::1',
  '3fff::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
  '1.2.3',
])('%s is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test('an address of IPv6 that contains one of IPv4 is judged by it', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(byte, byte, byte, byte, (a, b, c, d) => {
      const inside = isPublicAddress(`${a}.${b}.${c}.${d}`);
      const groups = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(':');
      for (const carrier of [`::ffff:${groups}`, `64:ff9b::${groups}`, `2002:${groups}::1`])
        expect({ carrier, isPublic: isPublicAddress(carrier) }).toEqual({ carrier, isPublic: inside });
    }),
    { numRuns: propertyRuns(300) },
  );
});
