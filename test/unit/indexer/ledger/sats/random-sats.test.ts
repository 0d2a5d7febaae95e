import { describe, expect, test } from 'vitest';
import { satAt } from '#indexer/ledger/sats/apply-sats.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isFirstOfBlock, minedAt } from '#kernel/sats/epoch.ts';
import { packedRangeLength, packRange, unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { lastSat, trustedSat } from '#kernel/sats/sat.ts';
import { seededRandom } from '#test/builders/random.ts';
import { RandomSatChain } from '#test/support/chain/sats/random-sat-chain.ts';
import { SatModel } from '#test/support/chain/sats/sat-model.ts';
import { type Pairs, SatStore } from '#test/support/chain/sats/sat-store.ts';
import { namedRuns, propertyRuns } from '#test/support/property-runs.ts';
import { blockOf, coinbase, transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

const subsidy = 5_000_000_000;
const numbers = (ranges: readonly (readonly [bigint, bigint])[]): Pairs =>
  ranges.map(([start, end]) => [Number(start), Number(end)]);

const sizeOf = (ranges: Pairs): number => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

describe('sats of random chains', () => {
  test('equal those of a model, in batches of any size', () => {
    // docs/adr/0035-sats-from-genesis.md names the numbers of chains in a long run
    for (let run = 0; run < namedRuns(60, 1000); run++) {
      const chain = new RandomSatChain(`sats ${run}`);
      const blocks = Array.from({ length: 24 }, () => chain.push());
      const [store, model] = [new SatStore(), new SatModel()];
      for (let at = 0; at < blocks.length; ) {
        const batch = blocks.slice(at, at + 1 + chain.below(5));
        store.apply(batch);
        for (const { height, bytes } of batch) model.apply(height, bytes);
        at += batch.length;
        expect(store.ranges()).toEqual(model.ranges());
        expect(store.lost()).toEqual(numbers(model.lost));
        const rare = store.rare();
        // a sat of a replaced output keeps its last location
        const moved = [...model.rareAmong(at)].filter(([sat, place]) => rare.get(sat) !== place);
        expect([moved, rare.size]).toEqual([[], at]);
      }
    }
  });

  test('partition the subsidies at every height, and are taken back', () => {
    for (let run = 0; run < namedRuns(20, 1000); run++) {
      const chain = new RandomSatChain(`partition ${run}`);
      const [store, model] = [new SatStore(), new SatModel()];
      const states: Record<string, Pairs>[] = [];
      for (let height = 0; height < 20; height++) {
        states.push(store.ranges());
        const block = chain.push();
        store.apply([block]);
        model.apply(height, block.bytes);
        const all = [...Object.values(store.ranges()).flat(), ...store.lost(), ...numbers(model.replaced)];
        let next = 0;
        for (const [start, end] of all.sort(([a], [b]) => a - b)) {
          expect(start).toBe(next);
          next = end;
        }
        expect(next).toBe((height + 1) * subsidy);
        expect(store.totals.replacedSats).toBe(sizeOf(numbers(model.replaced)));
      }
      for (const state of states.toReversed()) {
        store.undo();
        expect(store.ranges()).toEqual(state);
      }
      expect([store.totals, store.lost()]).toEqual([{ lostSats: 0, replacedSats: 0 }, []]);
    }
  });
});

describe('an impossible block', () => {
  const missing = Buffer.alloc(36, 3);
  const fed = (value: bigint) => ({
    height: 0,
    bytes: blockOf(
      [transaction([{ outpoint: missing }], [{ value }])],
      coinbase([{ value: BigInt(subsidy) }]),
    ),
    spent: null,
  });

  test('is refused if its spends are unchecked, otherwise it is a fault of ours', () => {
    expect(() => new SatStore().apply([fed(1n)], true)).toThrow(AppError);
    expect(() => new SatStore().apply([fed(1n)])).toThrow('the sats that block 0 spends are there');
    // a store does not keep outputs without value
    new SatStore().apply([fed(0n)]);
  });

  test('takes more than subsidy and fees', () => {
    const bytes = blockOf([], coinbase([{ value: BigInt(subsidy) + 1n }]));
    expect(() => new SatStore().apply([{ height: 0, bytes, spent: null }], true)).toThrow(AppError);
  });
});

describe('ranges of sats', () => {
  test('are packed and read again', () => {
    const random = seededRandom('packed');
    const ranges = [
      { start: 0, end: subsidy },
      { start: lastSat, end: lastSat + 1 },
      { start: 0, end: 1 },
      ...Array.from({ length: propertyRuns(2000) }, () => {
        const start = Math.floor(random.unit() * lastSat);
        return { start, end: start + 1 + Math.floor(random.unit() * subsidy) };
      }),
    ];
    const bytes = new Uint8Array(ranges.length * packedRangeLength);
    for (const [at, { start, end }] of ranges.entries()) packRange(bytes, at * packedRangeLength, start, end);
    expect(unpackRanges(bytes)).toEqual(ranges);
  });

  test('have the sat at an offset', () => {
    const pairs = Float64Array.of(9, 10, 100, 110, 50, 51);
    expect([0, 9, 10, 11].map((offset) => satAt(pairs, 1, 2, offset))).toEqual([100, 109, 50, null]);
  });

  test('begin with the first sat of a block if it is not common', () => {
    const random = seededRandom('first');
    for (let run = 0; run < propertyRuns(2000); run++) {
      const sat = trustedSat(Math.floor(random.unit() * lastSat));
      const { offset } = minedAt(sat);
      expect(isFirstOfBlock(sat)).toBe(offset === 0);
      expect(isFirstOfBlock(trustedSat(sat - offset))).toBe(true);
    }
  });
});
