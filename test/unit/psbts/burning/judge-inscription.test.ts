import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { burnTypes } from '#psbts/burning/burn-script.ts';
import { warningsOf } from '#psbts/burning/judge-inscription.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const content = (fields: object | string): Uint8Array =>
  Buffer.from(typeof fields === 'string' ? fields : JSON.stringify(fields));
const transfer = content({ p: 'brc-20', op: 'transfer', tick: 'ordi', amt: '1' });
const deploy = content({ p: 'brc20-prog', op: 'd', d: '0x60' });

describe('the effect of a burn for indexers of BRC-20', () => {
  test('is that of its type, for an inscription that was not moved', () => {
    expect(warningsOf('BRC20', { content: transfer, isUnmoved: true })).toEqual([]);
    expect(warningsOf('BRC20PROG', { content: deploy, isUnmoved: true })).toEqual([]);
    // a deposit
    expect(warningsOf('BRC20PROG', { content: transfer, isUnmoved: true })).toEqual([]);
  });

  test('is nothing for one that was moved, because only the first move counts', () => {
    expect(warningsOf('BRC20', { content: transfer, isUnmoved: false })).toEqual([
      expect.stringContaining('only count its first move') as string,
    ]);
  });

  test.each([
    ['nothing', null],
    ['a mint', content({ p: 'brc-20', op: 'mint', tick: 'ordi', amt: '1' })],
    ['a contract', deploy],
    ['a text', content('hello')],
    ['a list', content('[1]')],
    ['bytes', Uint8Array.of(0xff, 0xfe)],
    ['the name of a method', content({ p: 'constructor', op: 'transfer' })],
  ])('is a burn without tokens for %s', (_, given) => {
    expect(warningsOf('BRC20', { content: given, isUnmoved: true })).toEqual([
      expect.stringContaining('not a transfer of BRC-20') as string,
    ]);
  });

  test('is at most one warning, for any content', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.json(),
        fc.boolean(),
        fc.constantFrom(...burnTypes),
        (bytes, json, isUnmoved, type) => {
          for (const given of [bytes, content(json)])
            expect(warningsOf(type, { content: given, isUnmoved }).length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: propertyRuns(100) },
    );
  });
});
