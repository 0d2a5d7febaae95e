import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiKeyHash, newApiKey } from '#accounts/api-key.ts';

describe('a new key', () => {
  test('has its mark, 160 random bits, and its shown and stored parts', () => {
    const { key, prefix, hash } = newApiKey(() => Buffer.alloc(20, 0xab));
    expect(key).toMatch(/^satscribe_(?:ab){20}[0-9a-f]{8}$/u);
    expect(prefix).toBe('satscribe_abababab');
    expect(hash).toEqual(createHash('sha256').update(key).digest());
    expect(apiKeyHash(key)).toEqual(hash);
  });

  test('is different each time', () => {
    const keys = new Set(Array.from({ length: 1000 }, () => newApiKey().key));
    expect(keys.size).toBe(1000);
  });
});

describe('a text', () => {
  test('with one character changed, left out, added or in capitals is no key', () => {
    const { key } = newApiKey();
    fc.assert(
      fc.property(
        fc.nat(key.length - 1),
        fc.constantFrom(...'0123456789abcdefxA_ '.split('')),
        (at, character) => {
          const changed = key.slice(0, at) + character + key.slice(at + 1);
          if (changed !== key) expect(apiKeyHash(changed)).toBeNull();
          expect(apiKeyHash(key.slice(0, at) + key.slice(at + 1))).toBeNull();
          expect(apiKeyHash(key.slice(0, at) + character + key.slice(at))).toBeNull();
        },
      ),
    );
    expect(apiKeyHash(key.toUpperCase())).toBeNull();
    expect(apiKeyHash(`${key}, ${key}`)).toBeNull();
  });

  test('of any kind is read or refused', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => apiKeyHash(text) === null));
  });
});
