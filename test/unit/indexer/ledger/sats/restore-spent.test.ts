import { describe, expect, test } from 'vitest';
import {
  joinRanges,
  openPlaces,
  type RestoredOutput,
  restoreSpent,
} from '#indexer/ledger/sats/restore-spent.ts';
import { asBlockHash, asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { PastOfBlocks } from '#test/support/chain/sats/past-of-blocks.ts';
import { RandomSatChain } from '#test/support/chain/sats/random-sat-chain.ts';
import { type Pairs, pairsOf, SatStore, shownName } from '#test/support/chain/sats/sat-store.ts';
import { namedRuns } from '#test/support/property-runs.ts';

const billion = 1_000_000_000;
const anyHash = asBlockHash(new Uint8Array(32));

/**
 * Restores the spent outputs of the last block of a store from the sats that the block left. Also returns which of the
 * places where ranges may have been cut were cut.
 */
async function restored(
  store: SatStore,
  past: PastOfBlocks,
): Promise<{ readonly spent: readonly RestoredOutput[]; readonly cuts: readonly boolean[] }> {
  const { changes } = store.blocks.at(-1)!;
  const height = asHeight(changes.height);
  const ranges = store.ranges();
  const toRanges = (pairs: Pairs) => pairs.map(([start, end]) => ({ start, end }));
  const spent = restoreSpent(height, await past.transactions({ height, hash: anyHash }), {
    of: (txid, vout) => toRanges(ranges[`${txid}:${vout}`] ?? []),
    lost: toRanges(pairsOf(changes.pairs, changes.firstLost, changes.lostCount)),
  });
  const cuts = await past.cuts(openPlaces(spent));
  return { spent: joinRanges(spent, cuts), cuts };
}

const shown = (spent: readonly RestoredOutput[]) =>
  spent.map(({ output: { txid, vout, height }, ranges }) => [
    `${txid}:${vout}`,
    height,
    ranges.map(({ start, end }) => [start, end]),
  ]);

const txidOf = (name: string) => displayHash(asTxid(new Uint8Array(32).fill(name.charCodeAt(0))));
const subsidy = 5_000_000_000;
const at = (name: string, vout: number, value: number, height: number) => ({
  txid: txidOf(name),
  vout,
  value,
  height: asHeight(height),
});

describe('spent outputs of blocks', () => {
  test.each([
    ['joined again, and cut there again', [10, subsidy - 10], []],
    ['joined again, and cut elsewhere', [20, subsidy - 20], [20]],
    ['joined again, and cut twice', [10, 10, subsidy - 20], [20]],
  ])('keep a cut that was there before: sats that were %s', (_words, outputs, joins) => {
    const fourth = [
      { txid: txidOf('e'), inputs: null, outputs: [subsidy] },
      { txid: txidOf('d'), inputs: [at('b', 0, subsidy, 2)], outputs },
    ];
    let start = 0;
    const cuts = [0, 10, ...outputs.map((value) => (start += value))];
    const left = outputs.map((value, vout) => {
      const from = outputs.slice(0, vout).reduce((sum, each) => sum + each, 0);
      const bounds = [...new Set([...cuts, from, from + value])].toSorted((a, b) => a - b);
      const inside = bounds.filter((bound) => bound >= from && bound <= from + value);
      return inside.slice(1).map((end, place) => ({ start: inside[place]!, end }));
    });
    const [spent] = restoreSpent(asHeight(3), fourth, {
      of: (txid, vout) => (txid === txidOf('d') ? left[vout] : [{ start: 3 * subsidy, end: 4 * subsidy }]),
      lost: [],
    });
    const open = openPlaces([spent!]).map(({ offset }) => offset);
    expect(open).toEqual(expect.arrayContaining(joins));
    // the past shows that there were two ranges, which were cut at 10
    const [joined] = joinRanges(
      [spent!],
      open.map((offset) => offset === 10),
    );
    expect(joined!.ranges).toEqual([
      { start: 0, end: 10 },
      { start: 10, end: subsidy },
    ]);
  });

  test('follow from the sats that were left, with every cut, down to the first block', async () => {
    const places: boolean[] = [];
    for (let run = 0; run < namedRuns(40, 1000); run++) {
      const chain = new RandomSatChain(`restored ${run}`, run % 2 === 0 ? 1 : billion);
      const blocks = Array.from({ length: 24 }, () => chain.push());
      const store = new SatStore();
      store.apply(blocks);
      const past = new PastOfBlocks(blocks);
      for (let height = blocks.length - 1; height >= 0; height--) {
        const { changes, spent } = store.blocks.at(-1)!;
        const isTwin = changes.after.replacedSats !== changes.before.replacedSats;
        if (!isTwin) {
          const found = await restored(store, past);
          places.push(...found.cuts);
          expect(shown(found.spent)).toEqual(
            spent.map(({ name, held }) => [
              shownName(name),
              held.height,
              pairsOf(held.pairs, 0, held.pairs.length / 2),
            ]),
          );
        }
        store.undo();
      }
    }
    expect(places).toContain(true);
    expect(places.filter((isCut) => !isCut).length).toBeGreaterThan(500);
  });
});
