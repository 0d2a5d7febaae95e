import { describe, expect, test } from 'vitest';
import { places } from '#indexer/ledger/ledger-block.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain, type GoldenTip, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { charmsShown, LedgerStore, satpointOf } from '#test/support/chain/ledger-store.ts';

function replay(chain: GoldenChain, tip: GoldenTip): LedgerStore {
  const store = new LedgerStore(networks[chain.chain.network], 0);
  for (const header of tip.headers) {
    const { height, bytes, spent } = chain.block(header);
    store.apply(height, bytes, spent);
  }
  return store;
}

describe.each(goldenChainNames)('%s', (name) => {
  const chain = new GoldenChain(name);

  test.each(chain.tips())('every inscription is as in ord at the $name tip', (tip) => {
    const { inscriptions } = replay(chain, tip);
    const ours = inscriptions.map((inscription) => ({
      id: inscription.id,
      sequence: inscription.sequence,
      number: inscription.number,
      height: inscription.height,
      fee: inscription.fee,
      satpoint: satpointOf(inscription),
      charms: charmsShown(inscription),
      parents: inscription.parents?.map((key) => inscriptions[key]?.id),
    }));
    const ords = chain.inscriptions(tip);
    const expected = chain.order(tip).map((id, sequence) => {
      const { number, height, fee, satpoint, charms, parents } = ords.get(id)!;
      return { id, sequence, number, height, fee, satpoint, charms, parents };
    });
    expect(expected).toHaveLength(ords.size);
    expect(ours).toEqual(expected);
  });

  test.each(chain.tips())('the totals are those of ord at the $name tip', (tip) => {
    const { counters, inscriptions } = replay(chain, tip);
    const unbound = inscriptions.filter(({ locations }) => locations[0]?.place === places.unbound);
    expect(counters).toEqual({
      nextKey: tip.counts.inscriptions,
      sequence: tip.counts.inscriptions,
      blessed: tip.counts.blessed_inscriptions,
      cursed: tip.counts.cursed_inscriptions,
      unbound: unbound.length,
      lostSats: tip.counts.lost_sats,
    });
  });
});
