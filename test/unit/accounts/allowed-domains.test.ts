import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callingSite, parseAllowedDomains } from '#accounts/allowed-domains.ts';

describe('a list of domains', () => {
  const { domains, wrong } = parseAllowedDomains(' Example.com ,*.shop.example, münchen.example,localhost, ');

  test.each(['example.com', 'a.shop.example', 'a.b.shop.example', 'xn--mnchen-3ya.example', 'localhost'])(
    'has %s',
    (host) => {
      expect(domains.allows(host)).toBe(true);
    },
  );

  test.each([
    'www.example.com',
    'shop.example',
    'evilshop.example',
    'notexample.com',
    'example.com.evil.net',
    'example.co',
    '.shop.example',
    '',
  ])('lacks %j', (host) => {
    expect(domains.allows(host)).toBe(false);
  });

  test('names its wrong parts', () => {
    expect(wrong).toEqual([]);
    const bad = ['*', '*.', 'https://example.com', 'example.com:8080', 'a..b', '*.*.com', '-', 'a b', 'a/b'];
    expect(parseAllowedDomains(bad.join(',')).wrong).toEqual(bad);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { wrong: found } = parseAllowedDomains(text);
        for (const entry of found) expect(text).toContain(entry);
      }),
    );
  });
});

describe('the origin of a request', () => {
  test.each([
    ['https://example.com', undefined, 'example.com', 'example.com'],
    ['https://EXAMPLE.com:8443', undefined, 'example.com', 'example.com:8443'],
    ['https://a.example', 'https://b.example/page', 'a.example', 'a.example'],
    [undefined, 'https://b.example/page?text=1', 'b.example', 'b.example'],
    ['https://example.com.', undefined, 'example.com', 'example.com.'],
    ['http://user@example.com', undefined, 'example.com', 'example.com'],
    ['http://[::1]:7700', undefined, '[::1]', '[::1]:7700'],
  ])('is, by %s and %s, %s', (origin, referer, hostname, host) => {
    expect(callingSite(origin, referer)).toEqual({ hostname, host });
  });

  test.each([
    [undefined, undefined],
    ['null', 'https://example.com/'],
    ['', 'https://example.com/'],
    ['example.com', undefined],
    ['file:///etc/passwd', undefined],
    ['https://a.example https://b.example', undefined],
  ])('is unknown with %j and %j', (origin, referer) => {
    expect(callingSite(origin, referer)).toBeNull();
  });
});
