import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressOfNode, type ForwardedRequest, forwardedClient } from '#accounts/forwarded-client.ts';
import { proxyTest } from '#accounts/trusted-proxies.ts';

describe('the address in a node', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['203.0.113.9:1001', '203.0.113.9'],
    ['203.0.113.9:_hidden', '203.0.113.9'],
    ['"192.0.2.77"', '192.0.2.77'],
    ['"192.0.2.77:80"', '192.0.2.77'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['"[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1:443', '2001:db8:0:0:0:0:0:1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::ffff:192.0.2.1:8080', '::ffff:192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:443', 'fe80::1'],
    [String.raw`"192.0\.2.1"`, '192.0.2.1'],
  ])('of %s is %s', (node, address) => {
    expect(addressOfNode(node)).toBe(address);
  });

  test.each([
    '',
    'unknown',
    '"unknown"',
    '_SEVKISEK',
    'unknown:80',
    'client.example',
    '192.0.2.256',
    '192.0.2.1:port',
    '192.0.2.1:123456',
    '[2001:db8::1',
    '[2001:db8::1]443',
    '[2001:db8::1]:',
    '[]',
    '"',
    'unix:',
    '192.000.002.001',
  ])('of %j is unknown', (node) => {
    expect(addressOfNode(node)).toBeNull();
  });

  test('is read with any text around it', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6()),
        fc.option(fc.nat(65_535)),
        fc.boolean(),
        (address, port, isQuoted) => {
          const bare = address.includes(':') ? `[${address}]` : address;
          const node = port === null ? bare : `${bare}:${port}`;
          expect(addressOfNode(isQuoted ? `"${node}"` : node)).toBe(address);
        },
      ),
    );
  });

  test('is read from any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => addressOfNode(text)).not.toThrow();
      }),
    );
  });
});

describe('the client of a request', () => {
  const isProxy = proxyTest(['loopback', '10.0.0.0/8']);
  const of = (request: Partial<ForwardedRequest>): unknown =>
    forwardedClient(
      { peer: '127.0.0.1', forwardedFor: undefined, forwarded: undefined, ...request },
      isProxy,
    );
  const client = (address: string): unknown => ({ kind: 'client', address });
  const proxy = (address: string, instead: string | null): unknown => ({ kind: 'proxy', address, instead });

  test.each<[Partial<ForwardedRequest>, unknown]>([
    [{ peer: '192.0.2.1', forwardedFor: '192.0.2.9' }, client('192.0.2.1')],
    [{}, proxy('127.0.0.1', null)],
    [{ forwardedFor: ' , ' }, proxy('127.0.0.1', ' , ')],
    [{ forwardedFor: '' }, proxy('127.0.0.1', '')],
    [{ forwardedFor: '192.0.2.1' }, client('192.0.2.1')],
    // the client itself writes the first text
    [{ forwardedFor: '203.0.113.1, 192.0.2.1:80' }, client('192.0.2.1')],
    [{ forwardedFor: '203.0.113.1,192.0.2.1:80,10.1.2.3:90,[::1]' }, client('192.0.2.1')],
    [{ forwardedFor: 'unknown, 192.0.2.1' }, client('192.0.2.1')],
    [{ forwardedFor: '192.0.2.1, unknown' }, proxy('127.0.0.1', 'unknown')],
    // a client that names proxies cannot choose whose limit applies
    [{ forwardedFor: '_x, 10.1.2.3' }, proxy('127.0.0.1', '_x')],
    [{ forwardedFor: '10.1.2.3, 10.1.2.4' }, proxy('127.0.0.1', '10.1.2.3, 10.1.2.4')],
    [{ peer: '::ffff:127.0.0.1', forwardedFor: '192.0.2.1' }, client('192.0.2.1')],
    // RFC 7239, 4 and 7
    [{ forwarded: 'for="_gazonk"' }, proxy('127.0.0.1', '"_gazonk"')],
    [{ forwarded: 'For="[2001:db8:cafe::17]:4711"' }, client('2001:db8:cafe::17')],
    [{ forwarded: 'for=192.0.2.60;proto=http;by=203.0.113.43' }, client('192.0.2.60')],
    [{ forwarded: 'for=203.0.113.1, for=192.0.2.43' }, client('192.0.2.43')],
    [{ forwarded: 'by="a,b;for=1.2.3.4";for=192.0.2.43, for=10.0.0.1' }, client('192.0.2.43')],
    [{ forwarded: 'proto=https' }, proxy('127.0.0.1', 'proto=https')],
    [{ forwarded: 'for=192.0.2.43;by="' }, client('192.0.2.43')],
    [{ forwardedFor: '192.0.2.1', forwarded: 'for=203.0.113.1' }, client('192.0.2.1')],
    // the client left a quote open
    [{ forwardedFor: '", 192.0.2.1' }, client('192.0.2.1')],
    [{ forwardedFor: '"203.0.113.1, "192.0.2.1:80"' }, client('192.0.2.1')],
    [{ forwarded: 'for=", for=192.0.2.43' }, client('192.0.2.43')],
    [{ forwarded: 'for="\\, for="[2001:db8::1]:443";by="a,b"' }, client('2001:db8::1')],
    [{ forwarded: String.raw`for=", for=192.0.2.43;host="a\",b"` }, client('192.0.2.43')],
  ])('of %j is %j', (request, found) => {
    expect(of(request)).toEqual(found);
  });

  test('is the address that the trusted proxy wrote, whatever the client wrote before', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', ',', ';', '=', 'for', ' ', '[', ']', '1.2.3.4', 'x') }),
        (text) => {
          expect(of({ forwardedFor: `${text}, 192.0.2.1` })).toEqual(client('192.0.2.1'));
          expect(of({ forwarded: `${text}, for="192.0.2.1:80";by="_a"` })).toEqual(client('192.0.2.1'));
        },
      ),
    );
  });
});
