import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { zeroU128 } from '#kernel/runes/u128.ts';
import { big, byText, lowestName, shownEntry, stateOfModel } from '#test/support/chain/runes/model-state.ts';
import { RuneChain } from '#test/support/chain/runes/rune-chain.ts';
import { RuneModel } from '#test/support/chain/runes/rune-model.ts';
import { RuneStore, shownOutpoint } from '#test/support/chain/runes/rune-store.ts';
import { namedRuns, propertyBounds } from '#test/support/property-runs.ts';

/** All rows of the ledger, as the model writes them. */
function rowsOf(store: RuneStore) {
  const idOf = (key: number): string => `${store.runes[key]!.block}:${store.runes[key]!.tx}`;
  return {
    runes: store.runes.map((entry) => ({
      ...shownEntry(entry),
      mints: big(store.total(store.mints, entry.key)),
      burned: big(store.total(store.burned, entry.key)),
    })),
    held: [...store.unspent()]
      .map(([outpoint, balances]): [string, string[]] => [
        shownOutpoint(outpoint),
        balances.map(({ key, amount }) => `${idOf(key)} ${amount}`).sort(),
      ])
      .sort(byText),
  };
}

/** Checks that all mints and the premine of every rune are held or burned. */
function expectConserved(store: RuneStore): void {
  const held = new Map<number, bigint>();
  for (const balances of store.unspent().values())
    for (const { key, amount } of balances) held.set(key, (held.get(key) ?? 0n) + BigInt(amount));
  for (const { key, premine, terms } of store.runes) {
    const minted = BigInt(store.total(store.mints, key)) * BigInt(terms?.amount ?? zeroU128);
    const burned = BigInt(store.total(store.burned, key));
    expect((held.get(key) ?? 0n) + burned).toBe(BigInt(premine) + minted);
  }
}

test('on random chains the ledger agrees with a model of the rules, after each block and each undo', () => {
  const seen = { runes: 0, mints: 0, burned: 0, named: 0 };
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const chain = new RuneChain(`runes ${seed}`, lowestName);
      const store = new RuneStore(networks.regtest);
      const model = new RuneModel(lowestName);
      const step = (): void => {
        const { fed, transactions } = chain.block();
        store.apply([fed]);
        model.apply(transactions);
        expect(rowsOf(store)).toEqual(stateOfModel(model.state));
        expectConserved(store);
      };
      const back = (): void => {
        chain.undo();
        store.undo();
        model.undo();
        expect(rowsOf(store)).toEqual(stateOfModel(model.state));
        expectConserved(store);
      };
      for (let block = 0; block < 14; block++) {
        step();
        if (chain.below(8) > 0) continue;
        for (let depth = 1 + chain.below(Math.min(7, chain.height)); depth > 0; depth--) back();
      }
      seen.runes += store.runes.length;
      seen.named += store.runes.filter(({ rune }) => rune < 10n ** 20n).length;
      seen.mints += store.mints.length;
      seen.burned += store.burned.length;
    }),
    // docs/adr/0033-runes.md names the number of chains in a long run
    { numRuns: namedRuns(250, 5000) },
  );
  // the chains contain every case often enough
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(15);
});

test('a batch of blocks gives the same as its blocks one by one', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 2, max: 14 }), (seed, size) => {
      const chain = new RuneChain(`batches ${seed}`, lowestName);
      const blocks = Array.from({ length: 14 }, () => chain.block().fed);
      const single = new RuneStore(networks.regtest);
      for (const block of blocks) single.apply([block]);
      const batched = new RuneStore(networks.regtest);
      for (let at = 0; at < blocks.length; at += size) batched.apply(blocks.slice(at, at + size));
      const { balances, mints, burned, runes, blocks: applied } = single;
      expect([batched.runes, batched.mints, batched.burned]).toEqual([runes, mints, burned]);
      expect(batched.balances).toEqual(balances);
      expect(batched.blocks.map(({ events }) => events)).toEqual(applied.map(({ events }) => events));
    }),
    propertyBounds(60),
  );
});
