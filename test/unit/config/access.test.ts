import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';

describe('settings of access', () => {
  test('keep searches to keys and listed domains unless they say otherwise', () => {
    expect(loadConfig({ env: {} })).toMatchObject({ searchAccess: 'restricted', searchAddressRate: '60000' });
    for (const searchAccess of ['open', 'keys'])
      expect(loadConfig({ env: { SEARCH_ACCESS: searchAccess } })).toMatchObject({ searchAccess });
  });

  test.each([
    { SEARCH_ACCESS: 'closed' },
    { SEARCH_ALLOWED_DOMAINS: 'example.com', SEARCH_ACCESS: 'keys' },
    { SEARCH_ALLOWED_DOMAINS: 'example.com,https://shop.example' },
    { SEARCH_ALLOWED_DOMAINS: '*' },
    { SEARCH_ADDRESS_RATE: '-1' },
    { SEARCH_ADDRESS_RATE: '2/0' },
    { SEARCH_ADDRESS_RATE: '1000001' },
    { UNKNOWN_KEY_RATE: '2/86401' },
    { PUBLIC_URL: 'ord.example.com' },
    { PUBLIC_URL: 'https://ord.example.com/path' },
    { TRUST_PROXY: 'true' },
    { TRUST_PROXY: '1' },
  ])('refuse %o, by name', (env) => {
    const load = (): unknown => loadConfig({ env });
    expect(load).toThrow(AppError);
    expect(load).toThrow(Object.keys(env)[0]);
  });

  test.each([
    { SEARCH_ALLOWED_DOMAINS: ' example.com , *.shop.example' },
    { PUBLIC_URL: 'https://ord.example.com:8443/' },
    { TRUST_PROXY: 'loopback,10.0.0.0/8' },
    { SEARCH_ADDRESS_RATE: '2/10', UNKNOWN_KEY_RATE: '0' },
  ])('take %o', (env) => {
    expect(() => loadConfig({ env })).not.toThrow();
  });
});
