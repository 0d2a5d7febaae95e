import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import type { MintTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { storedTerms, termsOf } from '#orders/order/stored-terms.ts';
import { etchings } from '#test/builders/etchings.ts';
import { orderTerms, textTerms } from '#test/builders/order-terms.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 34 });
const sats = fc.bigInt({ min: 0n, max: 21_000_000n * 100_000_000n });
const id = fc.record({
  txid: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => trustedTxid(value)),
  index: fc.nat({ max: 1000 }),
});
const length = fc.option(fc.nat({ max: 400_000 }));
const mints: fc.Arbitrary<MintTerms> = fc.record({
  rune: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map(asRune),
  spacers: fc.nat({ max: 2 ** 27 - 1 }),
  id: fc.record({ block: fc.nat({ max: 2_000_000 }).map(smallU128), tx: fc.nat({ max: 2 ** 32 - 1 }) }),
  count: fc.integer({ min: 1, max: 1000 }),
});
const terms: fc.Arbitrary<OrderTerms> = fc.record({
  type: fc.constantFrom('direct' as const, 'bulk' as const),
  files: fc.array(
    fc.record({
      contentType: fc.option(fc.string()),
      body: length,
      contentEncoding: fc.option(fc.constant('br')),
      metaprotocol: fc.option(fc.string()),
      metadata: length,
      delegate: fc.option(id),
    }),
    { maxLength: 4 },
  ),
  receivers: fc.array(bytes, { maxLength: 3 }),
  postage: fc.oneof(sats, fc.constant('least' as const)),
  feeRate: sats,
  batchMode: fc.constantFrom('separate-outputs' as const, 'shared-output' as const),
  parents: fc.array(fc.record({ id, value: sats, returnScript: bytes }), { maxLength: 2 }),
  burn: fc.boolean(),
  uncurse: fc.boolean(),
  additionalFee: sats,
  nonStandard: fc.boolean(),
  etching: fc.option(etchings),
  mint: fc.option(mints),
  inventory: fc.option(fc.array(fc.record({ value: sats, place: sats }), { minLength: 1, maxLength: 4 })),
});

/** Converts a value so that buffers and byte arrays compare as equal. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === 'bigint') return `${part}n`;
      return part instanceof Uint8Array ? Buffer.from(part).toString('hex') : part;
    }).replaceAll(/\{"type":"Buffer","data":\[[^\]]*\]\}/gu, '"buffer"'),
  );

describe('stored terms', () => {
  test('are the terms again after JSON', () => {
    fc.assert(
      fc.property(terms, (given) => {
        const column = JSON.parse(JSON.stringify(storedTerms(given))) as Parameters<typeof termsOf>[0];
        const read = termsOf(column);
        expect(read.postage).toBe(given.postage);
        expect(read.inventory).toEqual(given.inventory);
        expect(read.etching).toEqual(given.etching);
        expect(read.mint).toEqual(given.mint);
        expect(read.receivers.map((script) => [...script])).toEqual(
          given.receivers.map((script) => [...script]),
        );
        expect(read.parents.map(({ value }) => value)).toEqual(given.parents.map(({ value }) => value));
        expect(read.files.map(({ body, metadata }) => [body, metadata])).toEqual(
          given.files.map(({ body, metadata }) => [body, metadata]),
        );
        expect(plain(storedTerms(read))).toEqual(plain(storedTerms(given)));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('read the inventory sat of an order of an earlier version', () => {
    const inventory = [{ value: 10_000n, place: 4_000n }];
    const stored = storedTerms(orderTerms([textTerms(5)], [], { inventory }));
    const earlier = { ...stored, inventory: { value: '10000', place: '4000' } };
    expect(termsOf(earlier)).toEqual(termsOf(stored));
    expect(termsOf(stored).inventory).toEqual(inventory);
  });

  test('have lengths instead of contents', () => {
    const base = orderTerms([textTerms(Buffer.from('hello'))], []);
    expect(storedTerms(base).files[0]?.body).toBe(5);
  });
});
