import { describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { type Coin, envelope, LedgerChain, parent, pointer } from '#test/support/chain/ledger-chain.ts';
import { charmsShown, type StoredInscription, satpointOf } from '#test/support/chain/ledger-store.ts';

const plain = envelope();
const cursed = envelope(pointer(0));
const jubilee = networks.regtest.jubileeHeight;
const { firstInscriptionHeight } = networks.mainnet;

interface Shown {
  sequence: number | null;
  number: number | null;
  curse: number | null;
  satpoint: string | null;
  charms: string[] | null;
  fee: number | null;
  parents: readonly number[] | null;
}

function shown(chain: LedgerChain, key: number): Shown {
  const inscription = chain.store.inscriptions[key] as StoredInscription;
  const { sequence, number, curse, fee, parents } = inscription;
  const [satpoint, charms] = [satpointOf(inscription), charmsShown(inscription)];
  return { sequence, number, curse, satpoint, charms, fee, parents };
}

function reveal(chain: LedgerChain, script: Uint8Array = plain): Coin {
  return chain.transaction([chain.coin(1000)], [{ value: 900 }], [script]).coins[0]!;
}

const payNothing = [{ value: 0 }];

describe('the first inscription of all, without spent outputs', () => {
  test('has number and sequence 0 and no curse; its place, fee and charms are unknown', () => {
    const chain = new LedgerChain({ network: networks.mainnet, height: firstInscriptionHeight });
    reveal(chain);
    chain.finishBlock(payNothing, false);
    expect(shown(chain, 0)).toEqual({
      sequence: 0,
      number: 0,
      curse: 0,
      satpoint: null,
      charms: null,
      fee: null,
      parents: [],
    });
    expect(chain.store.counters).toMatchObject({ sequence: 1, blessed: 1, cursed: 0, unbound: null });
    expect(chain.store.anchored).toBe(false);
  });

  test('leaves a chain that is not anchored: the next inscription could be on the same sat', () => {
    const chain = new LedgerChain({ network: networks.mainnet, height: firstInscriptionHeight });
    reveal(chain);
    chain.finishBlock(payNothing, false);
    reveal(chain);
    chain.finishBlock();
    expect(shown(chain, 1)).toMatchObject({ sequence: 1, number: null, curse: null, charms: null, fee: 100 });
    expect(chain.store.counters).toMatchObject({ sequence: 2, blessed: null, cursed: null });
  });

  test('that is cursed by its bytes has the number -1', () => {
    const chain = new LedgerChain({ network: networks.mainnet, height: firstInscriptionHeight });
    reveal(chain, cursed);
    chain.finishBlock(payNothing, false);
    expect(shown(chain, 0)).toMatchObject({ number: -1, curse: 6, charms: null });
  });
});

describe('several reveals in a block without spent outputs', () => {
  test('are in the order of ids without numbers, as their order is unknown', () => {
    const chain = new LedgerChain();
    const made = [1, 2].map(() => chain.transaction([chain.coin(10)], [{ value: 10 }], [cursed]));
    chain.finishBlock(payNothing, false);
    expect(chain.store.inscriptions.map(({ id }) => id)).toEqual(made.map(({ id }) => id()));
    expect(shown(chain, 0)).toMatchObject({ sequence: null, number: null, curse: 6 });
    expect(shown(chain, 1)).toMatchObject({ sequence: null, number: null, curse: 6 });
    // both inscriptions are cursed in any case, so the totals are known
    expect(chain.store.counters).toMatchObject({ sequence: 2, blessed: 0, cursed: 2 });
  });

  test('leave totals unknown that could have changed either way', () => {
    const chain = new LedgerChain();
    reveal(chain);
    reveal(chain);
    chain.finishBlock(payNothing, false);
    expect(shown(chain, 0).curse).toBe(0);
    expect(shown(chain, 1).curse).toBe(null);
    expect(chain.store.counters).toEqual({
      nextKey: 2,
      sequence: 2,
      blessed: null,
      cursed: null,
      unbound: null,
      lostSats: null,
    });
  });
});

describe('an anchored chain', () => {
  test('stays so over a block without spent outputs that neither reveals nor moves an inscription', () => {
    const chain = new LedgerChain();
    const coin = reveal(chain);
    chain.finishBlock();
    chain.transaction([chain.coin(77)], [{ value: 70 }]);
    chain.finishBlock(payNothing, false);
    expect(chain.store.anchored).toBe(true);
    expect(chain.store.counters.lostSats).toBe(null);
    const move = chain.transaction([coin], [{ value: 900 }]);
    reveal(chain);
    chain.finishBlock();
    expect(shown(chain, 0).satpoint).toBe(move.at(0, 0));
    expect(shown(chain, 1)).toMatchObject({ number: 1, sequence: 1, charms: [] });
  });

  test('ends if such a block moves an inscription, whose place is then unknown', () => {
    const chain = new LedgerChain();
    const coin = reveal(chain);
    chain.finishBlock();
    chain.transaction([coin], [{ value: 900 }]);
    chain.finishBlock(payNothing, false);
    expect(shown(chain, 0)).toMatchObject({ satpoint: null, charms: null, number: 0 });
    expect(chain.store.anchored).toBe(false);
    expect(chain.store.tracked.size).toBe(0);
  });

  test('knows the spent outputs of a block with only its coinbase', () => {
    const chain = new LedgerChain();
    chain.finishBlock([{ value: 5_000_000_000 - 5 }], false);
    expect(chain.store.anchored).toBe(true);
    expect(chain.store.counters.lostSats).toBe(5);
  });

  test('loses an inscription without a satpoint if the lost sats are unknown', () => {
    const chain = new LedgerChain();
    const coin = reveal(chain);
    chain.finishBlock();
    chain.transaction([chain.coin(77)], [{ value: 70 }]);
    chain.finishBlock(payNothing, false);
    chain.transaction([coin], payNothing);
    chain.finishBlock(payNothing);
    expect(shown(chain, 0)).toMatchObject({ satpoint: null, charms: null });
  });
});

describe('an island with spent outputs', () => {
  const island = (height: number, start = {}): LedgerChain =>
    new LedgerChain({ network: networks.mainnet, height, start });

  test('knows places, fees and curses by bytes, but no facts of the history', () => {
    const chain = island(781_735);
    const coin = reveal(chain);
    reveal(chain, cursed);
    chain.finishBlock();
    const move = chain.transaction([coin], [{ value: 900 }]);
    chain.finishBlock();
    expect(shown(chain, 0)).toEqual({
      sequence: null,
      number: null,
      curse: null,
      satpoint: move.at(0, 0),
      charms: null,
      fee: 100,
      parents: [],
    });
    expect(shown(chain, 1)).toMatchObject({ curse: 6, number: null, charms: null });
  });

  test('does not know which claimed parents are valid', () => {
    const chain = island(781_735);
    reveal(chain, envelope(parent(`${'11'.repeat(32)}i0`)));
    chain.finishBlock();
    expect(shown(chain, 0).parents).toBe(null);
  });

  test('counts sequence numbers from a proven total on', () => {
    const chain = island(781_735, { sequence: 552_117 });
    reveal(chain);
    reveal(chain);
    chain.finishBlock();
    expect([shown(chain, 0).sequence, shown(chain, 1).sequence]).toEqual([552_117, 552_118]);
    expect([shown(chain, 0).number, shown(chain, 1).number]).toEqual([null, null]);
  });

  test('numbers from proven totals until a curse is unknown', () => {
    const chain = island(781_735, { blessed: 1000, cursed: 10 });
    reveal(chain, cursed);
    reveal(chain);
    reveal(chain, cursed);
    chain.finishBlock();
    expect([0, 1, 2].map((key) => shown(chain, key).number)).toEqual([-11, null, null]);
  });

  test('numbers all from a proven total after the jubilee, when no inscription is cursed', () => {
    const chain = island(networks.mainnet.jubileeHeight, { blessed: 1000 });
    reveal(chain, cursed);
    reveal(chain);
    chain.finishBlock();
    reveal(chain);
    chain.finishBlock(payNothing, false);
    expect([0, 1, 2].map((key) => shown(chain, key).number)).toEqual([1000, 1001, 1002]);
    expect([0, 1, 2].map((key) => shown(chain, key).curse)).toEqual([6, null, null]);
  });

  test('gives an unbound inscription a satpoint only with the total of those', () => {
    const fields = envelope([66, Buffer.from([1])]);
    for (const [start, expected] of [
      [{}, null],
      [{ unbound: 5 }, `${'0'.repeat(64)}:0:5`],
    ] as const) {
      const chain = island(781_735, start);
      reveal(chain, fields);
      chain.finishBlock();
      expect(shown(chain, 0).satpoint).toBe(expected);
    }
  });

  test('gives a lost inscription its satpoint from the proven total', () => {
    const chain = island(jubilee + 781_735, { lostSats: 40 });
    chain.transaction([chain.coin(1000)], payNothing, [plain]);
    chain.finishBlock(payNothing);
    expect(shown(chain, 0).satpoint).toBe(`${'0'.repeat(64)}:4294967295:${40 + 625_000_000}`);
    expect(chain.store.counters.lostSats).toBe(40 + 625_000_000 + 1000);
  });
});
