import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact, Edict, Runestone } from '#kernel/runes/runestone/artifact.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { encipher, sortedEdicts } from '#kernel/runes/runestone/encipher.ts';
import { readIntegers, writeInteger } from '#kernel/runes/runestone/varint.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, maxU64, type U128 } from '#kernel/runes/u128.ts';
import { etchings, integers128, integersTo } from '#test/builders/etchings.ts';
import { type ModelRunestone, modelOf } from '#test/support/chain/runes/runestone-model.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { read, scriptOf } from './runestone-reader.ts';

const runs = { numRuns: propertyRuns(3000) };
const u128 = integers128.map(asU128);
const u64 = integersTo(maxU64).map(asU128);
const outputCount = fc.integer({ min: 1, max: 5 });

/** The fields that both readers return. A cenotaph keeps its mint and the name that it etches. */
function comparable(artifact: Artifact): unknown {
  const mint = artifact.mint === null ? null : formatRuneId(artifact.mint);
  if (artifact.kind === 'cenotaph') return { flaw: artifact.flaw, rune: artifact.etching, mint };
  const { edicts, etching, pointer } = artifact;
  const { rune = null, terms, ...rest } = etching ?? {};
  return {
    flaw: null,
    mint,
    pointer: big(pointer),
    edicts: edicts.map(({ id, amount, output }) => [formatRuneId(id), BigInt(amount), BigInt(output)]),
    etching:
      etching === null ? null : { rune, hasTerms: terms != null, ...bigs(rest), ...bigs(terms ?? noTerms) },
  };
}

const noTerms: Terms = {
  amount: null,
  cap: null,
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
};
const big = (value: unknown): unknown => (typeof value === 'number' ? BigInt(value) : value);
const bigs = (values: object): object =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, big(value)]));

function ofModel({ flaw, edicts, etching, mint, pointer }: ModelRunestone): unknown {
  if (flaw !== null) return { flaw, rune: etching?.['rune'] ?? null, mint };
  const { terms: hasTerms, ...rest } = etching ?? {};
  return {
    flaw: null,
    mint,
    pointer,
    edicts: edicts.map(({ id, amount, output }) => [id, amount, output]),
    etching: etching === null ? null : { hasTerms, ...rest },
  };
}

function compare(script: Uint8Array, outputs: number): void {
  expect(comparable(read(script, outputs))).toEqual(ofModel(modelOf(script, outputs)));
}

const opReturn13 = [0x6a, 0x5d];

describe('any script gives the result of a second reader', () => {
  test('of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), outputCount, (bytes, outputs) => {
        compare(Uint8Array.from([...opReturn13, ...bytes]), outputs);
      }),
      runs,
    );
  });

  test('of any payload, in any pushes', () => {
    const prefixesOf = (length: number): number[][] => {
      const long = [
        [0x4c, length],
        [0x4d, length, 0],
        [0x4e, length, 0, 0, 0],
      ];
      return length < 0x4c ? [...long, [length]] : long;
    };
    const push = fc
      .uint8Array({ maxLength: 80 })
      .chain((bytes) => fc.constantFrom(...prefixesOf(bytes.length)).map((prefix) => [...prefix, ...bytes]));
    const other = fc.constantFrom([0x51], [0x4f], [0x6a], [0x4e, 255, 255, 255, 255], [0x4c]);
    const parts = fc.array(fc.oneof({ weight: 9, arbitrary: push }, { weight: 1, arbitrary: other }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(parts, outputCount, (pushes, outputs) => {
        compare(Uint8Array.from([...opReturn13, ...pushes.flat()]), outputs);
      }),
      runs,
    );
  });

  test('of any fields and edicts', () => {
    const tag = fc.oneof(
      {
        weight: 12,
        arbitrary: fc.constantFrom(1n, 2n, 3n, 4n, 5n, 6n, 8n, 10n, 12n, 14n, 16n, 18n, 20n, 22n),
      },
      { weight: 1, arbitrary: integers128.filter((value) => value > 0n) },
    );
    const value = fc.oneof(fc.bigInt({ min: 0n, max: 7n }), integers128);
    const flags = fc.constantFrom(
      [],
      [2n, 1n],
      [2n, 3n],
      [2n, 7n],
      [2n, 7n],
      [2n, 4n],
      [2n, 1n << 127n],
      [2n, 9n],
    );
    const fields = fc.uniqueArray(fc.tuple(tag, value), { selector: ([key]) => key, maxLength: 8 });
    const repeated = fc.array(fc.tuple(tag, value), { maxLength: 4 });
    const mints = fc.constantFrom([], [], [20n, 3n, 20n, 1n], [20n, 0n, 20n, 1n], [20n, 1n << 64n, 20n, 1n]);
    const edict = fc.tuple(
      fc.oneof(fc.bigInt({ min: 0n, max: 3n }), integers128),
      value,
      value,
      fc.bigInt({ min: 0n, max: 6n }),
    );
    const body = fc.array(edict, { maxLength: 4 }).map((edicts) => [0n, ...edicts.flat()]);
    const pointer = fc.constantFrom([], [], [22n, 0n], [22n, 1n], [22n, 2n], [22n, 3n], [22n, 5n]);
    // unknown tags; one of them is above all tags, and equals a tag modulo 2^32
    const stranger = fc.constantFrom([], [], [], [24n, 0n], [34n, 0n], [52n, 0n], [37n, 0n], [1n << 64n, 0n]);
    const rarely = (pairs: fc.Arbitrary<[bigint, bigint][]>) =>
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: pairs });
    const isCut = fc.constantFrom(false, false, false, true);
    const parts = fc.tuple(
      flags,
      rarely(fields),
      rarely(repeated),
      mints,
      pointer,
      stranger,
      fc.option(body, { nil: [] }),
    );
    fc.assert(
      fc.property(parts, isCut, outputCount, (pieces, cut, outputs) => {
        const integers = pieces.flat(2);
        compare(scriptOf(cut ? integers.slice(0, -1) : integers), outputs);
      }),
      { numRuns: propertyRuns(6000) },
    );
  });

  test('of integers around the longest one', () => {
    const long = fc
      .tuple(fc.integer({ min: 5, max: 20 }), fc.nat(255), fc.nat(12))
      .map(([length, bits, last]) => [...Array.from({ length: length - 1 }, () => bits | 0x80), last]);
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 2 }), outputCount, (integers, outputs) => {
        const payload = [2, 1, 6, ...integers.flat()];
        compare(Uint8Array.from([...opReturn13, payload.length, ...payload]), outputs);
      }),
      runs,
    );
  });

  test('in the middle of other bytes', () => {
    fc.assert(
      fc.property(fc.array(integers128, { maxLength: 12 }), fc.nat(9), (integers, before) => {
        const script = scriptOf(integers);
        const bytes = Buffer.concat([Buffer.alloc(before, 0xff), script, Buffer.from([0x00, 0x14])]);
        expect(decipher(bytes, before, before + script.length, 3)).toEqual(read(script, 3));
      }),
      runs,
    );
  });
});

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const id = fc
  .tuple(u64, integersTo(2n ** 32n - 1n).map(Number))
  .map(([block, tx]) => ({ block, tx: block === 0 ? 0 : tx }));
const edict: fc.Arbitrary<Edict> = fc.record({ id, amount: u128, output: fc.nat(5) });
const runestone: fc.Arbitrary<Runestone> = fc.record({
  kind: fc.constant('runestone' as const),
  edicts: fc.array(edict, { maxLength: 6 }),
  etching: optional(etchings),
  mint: optional(id),
  pointer: optional(fc.nat(4)),
});

test('a runestone that is written is read as itself, with its edicts by id', () => {
  fc.assert(
    fc.property(runestone, (stone) => {
      expect(read(encipher(stone), 5)).toEqual({ ...stone, edicts: sortedEdicts(stone.edicts) });
    }),
    runs,
  );
});

test('a runestone of any length is one push', () => {
  const edicts = Array.from(
    { length: 60_000 },
    (_, tx): Edict => ({ id: { block: asU128(1), tx }, amount: asU128(tx), output: 0 }),
  );
  for (const count of [1, 14, 15, 50, 51, 52, 13_000, 13_200, 60_000]) {
    const stone: Runestone = {
      kind: 'runestone',
      edicts: edicts.slice(0, count),
      etching: null,
      mint: null,
      pointer: null,
    };
    expect(read(encipher(stone), 1)).toEqual(stone);
  }
});

test('an integers128 is written in its shortest form and read again, exactly', () => {
  fc.assert(
    fc.property(fc.array(u128, { maxLength: 6 }), (integers: U128[]) => {
      const bytes: number[] = [];
      for (const value of integers) writeInteger(bytes, value);
      expect(readIntegers(Uint8Array.from(bytes), 0, bytes.length)).toEqual(integers);
      const bits = integers.map((value) => BigInt(value).toString(2).length);
      expect(bytes).toHaveLength(bits.reduce((sum, length) => sum + Math.ceil(length / 7), 0));
    }),
    runs,
  );
});
