import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import { asU128, type U128 } from '#kernel/runes/u128.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

/** Only a few values, so that outpoints repeat, and fingerprints collide in one half or in both. */
const outpoint = fc.record({
  txid: fc.constantFrom(1, 2, 0x80, 0xff),
  vout: fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1),
  low: fc.constantFrom(0, 1, 9, 2 ** 31, 2 ** 32 - 1),
  high: fc.constantFrom(0, 3, 2 ** 32 - 1),
});
const amount = fc.oneof(fc.nat(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 128n - 1n })).map(asU128);
const output = fc.record({
  outpoint,
  height: fc.nat(),
  tx: fc.nat(100_000),
  script: fc.tuple(fc.nat(2 ** 22), fc.nat(10_000)),
  balances: fc.array(fc.tuple(fc.integer(), amount), { maxLength: 4 }),
});

type Outpoint = typeof outpoint extends fc.Arbitrary<infer Value> ? Value : never;

/** The 36 bytes of an outpoint, after three other bytes. */
function bytesOf({ txid, vout }: Outpoint): Uint8Array {
  const bytes = Buffer.alloc(39);
  bytes.fill(txid, 3, 35);
  bytes.writeUInt32LE(vout, 35);
  return bytes;
}

const nameOf = (place: Outpoint): string => JSON.stringify(place);

function shown(outputs: RuneOutputs, row: number) {
  const first = outputs.firstOf(row);
  return {
    txid: [...outputs.txidOf(row)],
    vout: outputs.voutOf(row),
    low: outputs.lowOf(row),
    high: outputs.highOf(row),
    height: outputs.heightOf(row),
    tx: outputs.txOf(row),
    script: [outputs.scriptStartOf(row), outputs.scriptLengthOf(row)],
    balances: Array.from({ length: outputs.countOf(row) }, (_, at): [number, U128] => [
      outputs.keyOf(first + at),
      outputs.amountOf(first + at),
    ]),
    spent: outputs.isSpent(row) ? [outputs.spentHeightOf(row), outputs.spentTxOf(row)] : null,
  };
}

test('a table of outputs agrees with a map: the newest output of an outpoint', () => {
  fc.assert(
    fc.property(fc.array(output, { maxLength: 60 }), fc.array(outpoint, { maxLength: 30 }), (made, asked) => {
      const outputs = new RuneOutputs();
      const copies = new RuneOutputs();
      const map = new Map<string, ReturnType<typeof shown>>();
      for (const [place, { outpoint: own, height, tx, script, balances }] of made.entries()) {
        const { low, high } = own;
        const row = outputs.add(viewOf(bytesOf(own)), 3, { height, tx, low, high });
        expect(row).toBe(place);
        outputs.setScript(row, script[0], script[1]);
        for (const [key, units] of balances) outputs.give(key, units);
        const expected = shown(outputs, row);
        expect(expected).toEqual({
          txid: Array.from({ length: 32 }, () => own.txid),
          vout: own.vout,
          low,
          high,
          height,
          tx,
          script,
          balances,
          spent: null,
        });
        expect(shown(copies, copies.addAs(outputs, row))).toEqual(expected);
        if (place % 3 === 0) outputs.spend(row, place, tx);
        map.set(nameOf(own), shown(outputs, row));
      }
      for (const one of [...asked, ...made.map(({ outpoint: own }) => own)]) {
        const { low, high } = one;
        const row = outputs.find(viewOf(bytesOf(one)), 3, low, high);
        expect(row < 0 ? undefined : shown(outputs, row)).toEqual(map.get(nameOf(one)));
        const isThere = made.some(({ outpoint: own }) => own.low === low && own.high === high);
        expect(outputs.mayHave(low, high)).toBe(isThere);
      }
      expect(outputs.balances).toBe(made.reduce((sum, { balances }) => sum + balances.length, 0));
    }),
    propertyBounds(200),
  );
});
