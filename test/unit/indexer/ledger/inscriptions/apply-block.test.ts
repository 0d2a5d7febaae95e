import { describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { type Coin, envelope, LedgerChain, parent, pointer } from '#test/support/chain/ledger-chain.ts';
import {
  charmsShown,
  type LedgerStore,
  type StoredInscription,
  satpointOf,
} from '#test/support/chain/ledger-store.ts';

const plain = envelope();
const jubilee = networks.regtest.jubileeHeight;
const opReturn = Buffer.from([0x6a, 0x01, 0x00]);
const lost = `${'0'.repeat(64)}:4294967295`;
const unbound = `${'0'.repeat(64)}:0`;
const subsidy = 5_000_000_000;

function find(store: LedgerStore, id: string): StoredInscription {
  const inscription = store.inscriptions.find((candidate) => candidate.id === id);
  if (inscription === undefined) throw new Error(`${id} is not there`);
  return inscription;
}
const satpoint = (chain: LedgerChain, id: string): string | null => satpointOf(find(chain.store, id));
const charms = (chain: LedgerChain, id: string): string[] | null => charmsShown(find(chain.store, id));

/** Makes a chain with one inscription, which is on the first sat of an output of 10,000 sats. */
function inscribed(): { chain: LedgerChain; id: string; coin: Coin } {
  const chain = new LedgerChain();
  const reveal = chain.transaction([chain.coin(10_000)], [{ value: 10_000 }], [plain]);
  chain.finishBlock();
  return { chain, id: reveal.id(), coin: reveal.coins[0]! };
}

describe('a reveal', () => {
  test('lands on the first sat of its input and gets the next number', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 600 }, { value: 300 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, reveal.id())).toMatchObject({
      number: 0,
      sequence: 0,
      curse: 0,
      fee: 100,
      parents: [],
    });
    expect(satpoint(chain, reveal.id())).toBe(reveal.at(0, 0));
    expect(charms(chain, reveal.id())).toEqual([]);
  });

  test('skips outputs without value', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 0 }, { value: 1000 }], [plain]);
    chain.finishBlock();
    expect(satpoint(chain, reveal.id())).toBe(reveal.at(1, 0));
  });

  test('in another input is cursed, and is placed where that input begins', () => {
    const chain = new LedgerChain();
    const coins = [chain.coin(700), chain.coin(1000)];
    const reveal = chain.transaction(coins, [{ value: 500 }, { value: 1200 }], [null, plain]);
    chain.finishBlock();
    expect(find(chain.store, reveal.id())).toMatchObject({ number: -1, curse: 4 });
    expect(satpoint(chain, reveal.id())).toBe(reveal.at(1, 200));
    expect(charms(chain, reveal.id())).toEqual(['cursed']);
  });

  test('with two envelopes in one input makes a second inscription, cursed and a reinscription, with a shared fee', () => {
    const chain = new LedgerChain();
    const twice = Buffer.concat([plain, plain]);
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 899 }], [twice]);
    chain.finishBlock();
    expect(find(chain.store, reveal.id(0))).toMatchObject({ number: 0, fee: 50 });
    expect(find(chain.store, reveal.id(1))).toMatchObject({ number: -1, fee: 50, curse: 5 });
    expect(charms(chain, reveal.id(1))).toEqual(['reinscription', 'cursed']);
  });

  test('from the jubilee on is vindicated instead of cursed, with a number like all others', () => {
    for (const [height, expected] of [
      [jubilee - 1, { number: -1, charms: ['cursed'] }],
      [jubilee, { number: 0, charms: ['vindicated'] }],
    ] as const) {
      const chain = knownFrom(height);
      const coins = [chain.coin(700), chain.coin(1000)];
      const reveal = chain.transaction(coins, [{ value: 1700 }], [null, plain]);
      chain.finishBlock();
      expect(find(chain.store, reveal.id()).number).toBe(expected.number);
      expect(charms(chain, reveal.id())).toEqual(expected.charms);
    }
  });

  test('is applied in the order of sats, whatever the order of envelopes', () => {
    const chain = knownFrom(jubilee);
    const last = envelope(pointer(900));
    const reveal = chain.transaction([chain.coin(500), chain.coin(500)], [{ value: 1000 }], [last, plain]);
    chain.finishBlock();
    expect(find(chain.store, reveal.id(1)).number).toBe(0);
    expect(find(chain.store, reveal.id(0)).number).toBe(1);
    expect(satpoint(chain, reveal.id(0))).toBe(reveal.at(0, 900));
  });

  test('below the first inscription height is not an inscription', () => {
    const { firstInscriptionHeight } = networks.signet;
    const chain = new LedgerChain({ network: networks.signet, height: firstInscriptionHeight - 1 });
    chain.transaction([chain.coin(1000)], [{ value: 1000 }], [plain]);
    chain.finishBlock([{ value: 0 }]);
    expect(chain.store.inscriptions).toEqual([]);
    expect(chain.store.counters).toMatchObject({ nextKey: 0, lostSats: 0 });
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 1000 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, reveal.id())).toMatchObject({ number: 0, sequence: 0, curse: 0 });
  });
});

/** Makes a chain that is completely known from `height` on. */
function knownFrom(height: number): LedgerChain {
  const zero = { sequence: 0, blessed: 0, cursed: 0, unbound: 0, lostSats: 0 };
  const chain = new LedgerChain({ height, start: zero });
  chain.store.anchored = true;
  return chain;
}

describe('a pointer', () => {
  test('names a sat of the outputs', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction(
      [chain.coin(1000)],
      [{ value: 400 }, { value: 500 }],
      [envelope(pointer(450))],
    );
    chain.finishBlock();
    expect(satpoint(chain, reveal.id())).toBe(reveal.at(1, 50));
    expect(find(chain.store, reveal.id()).curse).toBe(6);
  });

  test('beyond the outputs is ignored, but curses all the same', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 900 }], [envelope(pointer(900))]);
    chain.finishBlock();
    expect(satpoint(chain, reveal.id())).toBe(reveal.at(0, 0));
    expect(find(chain.store, reveal.id()).curse).toBe(6);
  });

  test('to an inscribed sat makes a reinscription', () => {
    const { chain, coin } = inscribed();
    const reveal = chain.transaction(
      [coin, chain.coin(500)],
      [{ value: 10_500 }],
      [null, envelope(pointer(0))],
    );
    chain.finishBlock();
    expect(charms(chain, reveal.id())).toEqual(['reinscription', 'cursed']);
  });

  test('to a sat of a later input does not see the inscriptions there', () => {
    const { chain, coin, id } = inscribed();
    const reveal = chain.transaction(
      [chain.coin(500), coin],
      [{ value: 10_500 }],
      [envelope(pointer(500)), null],
    );
    chain.finishBlock();
    expect(charms(chain, reveal.id())).toEqual(['cursed']);
    expect(satpoint(chain, reveal.id())).toBe(satpoint(chain, id));
  });
});

describe('an unbound inscription', () => {
  test('comes from an input without value, and continues the count', () => {
    const chain = new LedgerChain();
    const first = chain.transaction([chain.coin(0), chain.coin(1000)], [{ value: 1000 }], [plain, null]);
    const second = chain.transaction([chain.coin(0), chain.coin(1000)], [{ value: 1000 }], [plain, null]);
    chain.finishBlock();
    expect(satpoint(chain, first.id())).toBe(`${unbound}:0`);
    expect(satpoint(chain, second.id())).toBe(`${unbound}:1`);
    expect(charms(chain, second.id())).toEqual(['unbound']);
    expect(find(chain.store, second.id()).number).toBe(1);
  });

  test('comes from an unrecognised even field, and never moves', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction(
      [chain.coin(1000)],
      [{ value: 1000 }],
      [envelope([66, Buffer.from([1])])],
    );
    chain.transaction([reveal.coins[0]!], [{ value: 1000 }]);
    chain.finishBlock();
    expect(satpoint(chain, reveal.id())).toBe(`${unbound}:0`);
    expect(charms(chain, reveal.id())).toEqual(['cursed', 'unbound']);
    expect(find(chain.store, reveal.id()).curse).toBe(1);
  });

  test('is marked burned by the place where it would have been', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction(
      [chain.coin(0), chain.coin(1000)],
      [{ value: 1000, script: opReturn }],
      [plain, null],
    );
    chain.finishBlock();
    expect(charms(chain, reveal.id())).toEqual(['unbound', 'burned']);
  });
});

describe('a reinscription', () => {
  test('of an ordinary inscription is cursed', () => {
    const { chain, coin } = inscribed();
    const again = chain.transaction([coin], [{ value: 10_000 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, again.id())).toMatchObject({ number: -1, curse: 9 });
    expect(charms(chain, again.id())).toEqual(['reinscription', 'cursed']);
  });

  test('of a cursed one is not, but a third one is', () => {
    const chain = new LedgerChain();
    const cursed = chain.transaction([chain.coin(1000)], [{ value: 1000 }], [envelope(pointer(0))]);
    chain.finishBlock();
    const second = chain.transaction([cursed.coins[0]!], [{ value: 1000 }], [plain]);
    chain.finishBlock();
    const third = chain.transaction([second.coins[0]!], [{ value: 1000 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, second.id())).toMatchObject({ number: 0, curse: 0 });
    expect(charms(chain, second.id())).toEqual(['reinscription']);
    expect(find(chain.store, third.id())).toMatchObject({ number: -2, curse: 9 });
  });

  test('within the block of the first one is the same', () => {
    const chain = new LedgerChain();
    const first = chain.transaction([chain.coin(1000)], [{ value: 1000 }], [plain]);
    const second = chain.transaction([first.coins[0]!], [{ value: 1000 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, second.id())).toMatchObject({ number: -1, curse: 9 });
    expect(satpoint(chain, first.id())).toBe(second.at(0, 0));
  });

  test('on another sat of the same output is not one', () => {
    const { chain, coin } = inscribed();
    const moved = chain.transaction([chain.coin(50), coin], [{ value: 10_050 }]);
    chain.finishBlock();
    const again = chain.transaction([moved.coins[0]!], [{ value: 10_050 }], [plain]);
    chain.finishBlock();
    expect(find(chain.store, again.id())).toMatchObject({ number: 1, curse: 0 });
    expect(charms(chain, again.id())).toEqual([]);
  });
});

describe('a transfer', () => {
  test('moves the inscription with its sat', () => {
    const { chain, coin, id } = inscribed();
    const move = chain.transaction([chain.coin(300), coin], [{ value: 200 }, { value: 10_000 }]);
    chain.finishBlock();
    expect(satpoint(chain, id)).toBe(move.at(1, 100));
    expect(find(chain.store, id).locations.map(({ height, step }) => [height, step])).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });

  test('may happen several times in one block, each place kept', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 1000 }], [plain]);
    const once = chain.transaction([reveal.coins[0]!], [{ value: 1000 }]);
    chain.transaction([chain.coin(5)], [{ value: 5 }]);
    const twice = chain.transaction([once.coins[0]!], [{ value: 400 }, { value: 600 }]);
    const { result } = chain.finishBlock();
    expect(satpoint(chain, reveal.id())).toBe(twice.at(0, 0));
    expect(find(chain.store, reveal.id()).locations.map(({ step }) => step)).toEqual([1, 2, 4]);
    expect([...result.locations.spent]).toEqual([1, 1, 0]);
  });

  test('takes all inscriptions of an output along', () => {
    const chain = new LedgerChain();
    const coins = [chain.coin(500), chain.coin(500)];
    const reveal = chain.transaction(coins, [{ value: 1000 }], [plain, plain]);
    chain.finishBlock();
    const move = chain.transaction([reveal.coins[0]!], [{ value: 500 }, { value: 500 }]);
    chain.finishBlock();
    expect([0, 1].map((index) => satpoint(chain, reveal.id(index)))).toEqual([move.at(0, 0), move.at(1, 0)]);
  });

  test('into OP_RETURN burns', () => {
    const { chain, coin, id } = inscribed();
    chain.transaction([coin], [{ value: 10_000, script: opReturn }]);
    chain.finishBlock();
    expect(charms(chain, id)).toEqual(['burned']);
  });

  test('hashes and writes nothing without inscriptions', () => {
    const { chain } = inscribed();
    chain.transaction([chain.coin(5000)], [{ value: 5000 }]);
    const { result } = chain.finishBlock();
    expect([result.locations.count, result.txids.length, result.left.count]).toEqual([0, 0, 0]);
  });
});

describe('an inscription that is spent as fee', () => {
  test('goes to the coinbase, after the subsidy and the fees before it', () => {
    const { chain, coin, id } = inscribed();
    chain.transaction([chain.coin(1000)], [{ value: 930 }]);
    chain.transaction([chain.coin(200), coin], [{ value: 150 }]);
    const { coinbase } = chain.finishBlock([{ value: subsidy }, { value: 70 + 10_050 }]);
    expect(satpoint(chain, id)).toBe(coinbase.at(1, 70 + 50));
  });

  test('gets its number last if it is new, and is not in its own reveal', () => {
    const chain = new LedgerChain();
    const fee = chain.transaction([chain.coin(1000)], [{ value: 0 }], [plain]);
    const other = chain.transaction([chain.coin(1000)], [{ value: 1000 }], [plain]);
    const { coinbase } = chain.finishBlock([{ value: subsidy + 1000 }]);
    expect(find(chain.store, other.id()).number).toBe(0);
    expect(find(chain.store, fee.id())).toMatchObject({ number: 1, fee: 1000 });
    expect(satpoint(chain, fee.id())).toBe(coinbase.at(0, subsidy));
    expect(find(chain.store, fee.id()).locations.map(({ step }) => step)).toEqual([3]);
  });

  test('is lost if the coinbase does not claim it; every lost sat counts', () => {
    const chain = new LedgerChain();
    chain.finishBlock([{ value: subsidy - 7 }]);
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 0 }], [plain]);
    chain.finishBlock([{ value: subsidy - 3 }]);
    expect(satpoint(chain, reveal.id())).toBe(`${lost}:${7 + 3}`);
    expect(charms(chain, reveal.id())).toEqual(['lost']);
    expect(chain.store.counters.lostSats).toBe(7 + 3 + 1000);
  });

  test('that is lost later shows the charm by its place alone', () => {
    const { chain, coin, id } = inscribed();
    chain.transaction([coin], [{ value: 0 }]);
    chain.finishBlock([{ value: 0 }]);
    expect(find(chain.store, id).charms).toBe(0);
    expect(charms(chain, id)).toEqual(['lost']);
  });

  test('moves from the coinbase in a later block', () => {
    const { chain, coin, id } = inscribed();
    chain.transaction([chain.coin(10), coin], [{ value: 10 }]);
    const { coinbase } = chain.finishBlock([{ value: subsidy + 10_000 }]);
    expect(satpoint(chain, id)).toBe(coinbase.at(0, subsidy));
    const move = chain.transaction([coinbase.coins[0]!], [{ value: subsidy + 10_000 }]);
    chain.finishBlock();
    expect(satpoint(chain, id)).toBe(move.at(0, subsidy));
    expect(chain.store.tracked.size).toBe(1);
  });

  test('is refused if the coinbase takes more than there is', () => {
    const chain = new LedgerChain();
    expect(() => chain.finishBlock([{ value: subsidy + 1 }])).toThrow(
      expect.objectContaining({ code: 'spent_outputs_mismatch' }),
    );
  });
});

describe('a reveal into OP_RETURN', () => {
  test('is burned', () => {
    const chain = new LedgerChain();
    const reveal = chain.transaction([chain.coin(1000)], [{ value: 1000, script: opReturn }], [plain]);
    chain.finishBlock();
    expect(charms(chain, reveal.id())).toEqual(['burned']);
  });
});

describe('claimed parents', () => {
  const elsewhere = `${'77'.repeat(32)}i0`;
  const keys = (chain: LedgerChain, id: string): readonly number[] | null => find(chain.store, id).parents;

  test('are valid if an input holds them', () => {
    const { chain, id, coin } = inscribed();
    const child = chain.transaction(
      [coin, chain.coin(500)],
      [{ value: 10_500 }],
      [null, envelope(parent(elsewhere), parent(id), parent(id))],
    );
    chain.finishBlock();
    expect(keys(chain, child.id())).toEqual([0]);
  });

  test('are invalid if no input holds them', () => {
    const { chain, id } = inscribed();
    const child = chain.transaction([chain.coin(500)], [{ value: 500 }], [envelope(parent(id))]);
    chain.finishBlock();
    expect(keys(chain, child.id())).toEqual([]);
  });

  test('keep the order of the claims', () => {
    const chain = new LedgerChain();
    const first = chain.transaction([chain.coin(500)], [{ value: 500 }], [plain]);
    const second = chain.transaction([chain.coin(500)], [{ value: 500 }], [plain]);
    const child = chain.transaction(
      [first.coins[0]!, second.coins[0]!, chain.coin(9)],
      [{ value: 1009 }],
      [null, null, envelope(parent(second.id()), parent(first.id()))],
    );
    chain.finishBlock();
    expect(keys(chain, child.id())).toEqual([1, 0]);
  });
});

describe('claimed parents of the same transaction', () => {
  test('are valid if they are written before', () => {
    const chain = new LedgerChain();
    const coins = [chain.coin(500), chain.coin(500)];
    // the witness is not part of the txid, so an envelope can name its own transaction
    const { id } = new LedgerChain().transaction(coins, [{ value: 1000 }]);
    chain.transaction(
      coins,
      [{ value: 1000 }],
      [envelope(parent(id(1))), envelope(parent(id(0)), parent(id(1)))],
    );
    chain.finishBlock();
    expect(find(chain.store, id(0)).parents).toEqual([]);
    expect(find(chain.store, id(1)).parents).toEqual([0]);
  });
});

describe('an inconsistent block', () => {
  test('ends the process if no input spends a held inscription', () => {
    const { chain, coin } = inscribed();
    const { held } = heldBeyond(chain, coin);
    expect(held).toThrow(/every held inscription is taken by its input/u);
  });
});

/** Makes a store that reports input 99 as the spender of an inscription. */
function heldBeyond(chain: LedgerChain, coin: Coin): { held: () => void } {
  const { store } = chain;
  const held = store.held.bind(store);
  store.held = (columns, block) => ({ ...held(columns, block), input: Uint32Array.of(99) });
  chain.transaction([coin], [{ value: coin.value }]);
  return { held: () => chain.finishBlock() };
}
