import { describe, expect, test } from 'vitest';
import { asTxid, displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import {
  type Contents,
  type FollowedTransaction,
  followContents,
} from '#psbts/accelerating/follow-contents.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';

const plain = Uint8Array.of(0x51, 32, ...new Uint8Array(32));
const id = (index: number): TxidHex => displayHash(asTxid(Buffer.alloc(32, index)));
const free = (value: number): Contents => ({ value, inscriptions: [], runes: [], ranges: null });
const rune = { id: { block: smallU128(840_000), tx: 1 }, amount: smallU128(50) };

const transaction = (
  index: number,
  inputs: readonly string[],
  values: readonly (number | readonly [number, Uint8Array])[],
  witness: readonly Uint8Array[] = [],
): FollowedTransaction => ({
  txid: id(index),
  inputs: inputs.map((outpoint) => ({ outpoint, witness })),
  outputs: values.map((each) =>
    typeof each === 'number' ? { value: each, script: plain } : { value: each[0], script: each[1] },
  ),
});

const follow = (
  confirmed: Readonly<Record<string, Contents>>,
  ...transactions: readonly FollowedTransaction[]
): ((index: number, vout: number) => Contents | undefined) => {
  const made = followContents(transactions, new Map(Object.entries(confirmed)));
  return (index, vout) => made.get(`${id(index)}:${vout}`);
};

describe('inscriptions', () => {
  const inscribed = { ...free(10_000), inscriptions: [500] };

  test('follow their sats, first in, first out, over several transactions', () => {
    const of = follow(
      { 'a:0': free(1_000), 'b:0': inscribed },
      transaction(1, ['a:0', 'b:0'], [1_400, 5_000, 4_000]),
      transaction(2, [`${id(1)}:1`, `${id(1)}:0`], [4_000, 2_000]),
    );
    expect(of(1, 0)?.inscriptions).toEqual([]);
    expect(of(1, 1)?.inscriptions).toEqual([100]);
    expect(of(1, 2)?.inscriptions).toEqual([]);
    expect(of(2, 0)?.inscriptions).toEqual([100]);
    expect(of(2, 1)?.inscriptions).toEqual([]);
  });

  test('that become fees are in no output', () => {
    const of = follow({ 'b:0': inscribed }, transaction(1, ['b:0'], [500]));
    expect(of(1, 0)?.inscriptions).toEqual([]);
  });

  const reveal = (pointer?: number): readonly Uint8Array[] => [
    envelopeScript({
      contentType: 'text/plain',
      body: 'new',
      ...(pointer === undefined ? {} : { pointer }),
    }),
    new Uint8Array(33),
  ];

  test('are made on the first sat of their input, or at their pointer', () => {
    const spent = { 'a:0': free(1_000) };
    expect(follow(spent, transaction(1, ['a:0'], [400, 500], reveal()))(1, 0)?.inscriptions).toEqual([0]);
    const pointed = follow(spent, transaction(1, ['a:0'], [400, 500], reveal(450)));
    expect(pointed(1, 0)?.inscriptions).toEqual([]);
    expect(pointed(1, 1)?.inscriptions).toEqual([50]);
    // a pointer beyond the outputs is ignored
    expect(follow(spent, transaction(1, ['a:0'], [400, 500], reveal(900)))(1, 0)?.inscriptions).toEqual([0]);
  });
});

describe('runes', () => {
  const runic = { ...free(1_000), runes: [rune] };

  test('go to the first output that is not an OP_RETURN, or to the pointer of the runestone', () => {
    const burn = Uint8Array.of(0x6a);
    const of = follow({ 'a:0': runic }, transaction(1, ['a:0'], [[0, burn], 400, 500]));
    expect(of(1, 1)?.runes).toMatchObject([rune]);
    expect(of(1, 2)?.runes).toEqual([]);
    const stone = encipher(routeRunestone({ edicts: [], pointer: 1 }));
    const led = follow({ 'a:0': runic }, transaction(1, ['a:0'], [400, 500, [0, stone]]));
    expect([led(1, 0)?.runes, led(1, 1)?.runes]).toMatchObject([[], [rune]]);
  });

  test('are unknown if a transaction etches or mints, and after it', () => {
    const etching = { ...plainEtching, premine: asU128(100n) };
    for (const made of [
      { ...routeRunestone({ edicts: [], pointer: null }), mint: rune.id },
      { ...routeRunestone({ edicts: [], pointer: null }), etching },
    ]) {
      const of = follow(
        { 'a:0': free(1_000), 'b:0': free(1_000) },
        transaction(1, ['a:0'], [400, 500, [0, encipher(made)]]),
        transaction(2, ['b:0', `${id(1)}:1`], [1_000]),
      );
      expect([of(1, 0)?.runes, of(1, 1)?.runes, of(2, 0)?.runes]).toEqual([null, null, null]);
    }
  });
});

test('sats are followed first in, first out, if an index has those of all inputs', () => {
  const ranges = [
    { start: 100, end: 700 },
    { start: 5_000, end: 5_400 },
  ];
  const spent = { 'a:0': { ...free(1_000), ranges }, 'b:0': free(1_000) };
  const of = follow(
    spent,
    transaction(1, ['a:0'], [500, 0, 300]),
    transaction(2, ['b:0', `${id(1)}:0`], [1_000]),
  );
  expect(of(1, 0)?.ranges).toEqual([{ start: 100, end: 600 }]);
  expect(of(1, 1)?.ranges).toEqual([]);
  expect(of(1, 2)?.ranges).toEqual([
    { start: 600, end: 700 },
    { start: 5_000, end: 5_200 },
  ]);
  expect(of(2, 0)?.ranges).toBeNull();
});
