import { describe, expect, test } from 'vitest';
import { GoldenChain, type GoldenTip, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { type Pairs, SatStore } from '#test/support/chain/sats/sat-store.ts';

/** The store at a tip, after batches of `batch` blocks. */
function replay(golden: GoldenChain, tip: GoldenTip, batch = 1): SatStore {
  const store = new SatStore();
  const blocks = tip.headers.map((header) => golden.block(header));
  for (let at = 0; at < blocks.length; at += batch) store.apply(blocks.slice(at, at + batch));
  return store;
}

const lostOutpoint = `${'0'.repeat(64)}:4294967295`;

describe.each(goldenChainNames)('%s', (name) => {
  const golden = new GoldenChain(name);

  test.each(golden.tips())('has the sats of ord at its tip $name', (tip) => {
    const store = replay(golden, tip);
    const ranges = store.ranges();
    const ords = golden.satAnswers<Pairs>(tip, 'output-ranges');
    expect(ords.length).toBeGreaterThan(0);
    for (const { key, value } of ords)
      expect(key === lostOutpoint ? store.lost() : (ranges[key] ?? []), key).toEqual(value);
    expect(store.totals.lostSats).toBe(tip.counts.lost_sats);
    const rare = store.rare();
    for (const { key, value } of golden.satAnswers<{ satpoint: string; rarity: string }>(tip, 'sat'))
      if (value !== undefined && value.rarity !== 'common')
        expect(rare.get(Number(key))).toBe(value.satpoint);
  });

  test('is the same in batches, and after blocks were taken back', { tags: ['proof'] }, () => {
    const [best] = golden.tips() as [GoldenTip];
    const store = replay(golden, best);
    const ranges = store.ranges();
    for (const batch of [7, best.headers.length])
      expect(replay(golden, best, batch).ranges()).toEqual(ranges);
    const again = best.headers.slice(-40);
    for (const _ of again) store.undo();
    store.apply(again.map((header) => golden.block(header)));
    expect(store.ranges()).toEqual(ranges);
  });
});
