import fc from 'fast-check';
import { asRune } from '#kernel/runes/rune.ts';
import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, maxU64, maxU128 } from '#kernel/runes/u128.ts';

/** Numbers at which a runestone becomes longer, or a field gets another form. */
const edges = [0, 1, 7, 27, 31, 32, 52, 53, 54, 63, 64, 127, 128]
  .flatMap((bits) => [(1n << BigInt(bits)) - 1n, 1n << BigInt(bits), (1n << BigInt(bits)) + 1n])
  .filter((value) => value <= maxU128);

/** Integers of 128 bits, many of them small or at an edge. */
export const integers128 = fc.oneof(
  fc.bigInt({ min: 0n, max: 40n }),
  fc.constantFrom(...edges),
  fc.bigInt({ min: 0n, max: maxU128 }),
);

export const integersTo = (max: bigint): fc.Arbitrary<bigint> => integers128.filter((value) => value <= max);

const u64 = integersTo(maxU64).map(asU128);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

/** Options that make objects of the product's form, because the wallet also compares prototypes. */
const plainObjects = { noNullPrototype: true } as const;

const terms: fc.Arbitrary<Terms> = fc.record(
  {
    amount: optional(integersTo(2n ** 63n).map(asU128)),
    cap: optional(integersTo(2n ** 63n).map(asU128)),
    heightStart: optional(u64),
    heightEnd: optional(u64),
    offsetStart: optional(u64),
    offsetEnd: optional(u64),
  },
  plainObjects,
);

/** Etchings whose supply fits into 128 bits. */
export const etchings: fc.Arbitrary<Etching> = fc.record(
  {
    divisibility: optional(fc.nat(38)),
    premine: optional(integersTo(2n ** 127n).map(asU128)),
    rune: optional(integers128.map(asRune)),
    spacers: optional(fc.nat(2 ** 27 - 1)),
    symbol: optional(fc.nat(0x10ffff).filter((code) => code < 0xd800 || code > 0xdfff)),
    terms: optional(terms),
    turbo: fc.boolean(),
  },
  plainObjects,
);
