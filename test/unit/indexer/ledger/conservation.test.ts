import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import {
  type Coin,
  envelope,
  LedgerChain,
  type MadeTransaction,
  pointer,
} from '#test/support/chain/ledger-chain.ts';
import { satpointOf } from '#test/support/chain/ledger-store.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/**
 * Compares the ledger with a simulation that moves every single sat. In the simulation, outputs are lists of sats, an
 * inscription is the name of a sat, and its satpoint is the location of that sat. At this height there is no subsidy,
 * so all sats come from small coins.
 */
const height = 33 * 210_000;
const zero = { sequence: 0, blessed: 0, cursed: 0, unbound: 0, lostSats: 0 };

interface Step {
  /** Indices of coins to spend, modulo the number of coins. */
  readonly picks: readonly number[];
  /** Sizes of the outputs, in tenths of the sum. The rest is the fee. */
  readonly cuts: readonly number[];
  /**
   * Envelope of each input: -1 for none, else its pointer in tenths of the sum. 10 means an envelope without a pointer.
   */
  readonly envelopes: readonly number[];
}

const step: fc.Arbitrary<Step> = fc.record({
  picks: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  cuts: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
  envelopes: fc.array(fc.integer({ min: -1, max: 10 }), { maxLength: 3 }),
});
const blocks = fc.array(
  fc.record({ steps: fc.array(step, { maxLength: 6 }), claimed: fc.integer({ min: 0, max: 10 }) }),
  { minLength: 1, maxLength: 6 },
);

type Sat = number;

class SatSimulation {
  readonly chain = new LedgerChain({ network: networks.regtest, height, start: zero });
  /** Spendable outputs, and the sats of each. */
  readonly outputs = new Map<Coin, Sat[]>();
  readonly lost: Sat[] = [];
  /** The sat of every bound inscription, by id. */
  readonly inscribed = new Map<string, Sat>();
  readonly unbound: string[] = [];
  #nextSat = 0;
  #fees: { sats: Sat[]; late: string[] }[] = [];
  readonly #place = new Map<Sat, string>();

  readonly #spendsEmpty: boolean;

  /** @param spendsEmpty whether outputs without value are spent too, so that their reveals can fall into the fees */
  constructor(spendsEmpty: boolean) {
    this.#spendsEmpty = spendsEmpty;
    this.chain.store.anchored = true;
    for (const value of [0, 3, 10, 40, 7]) this.#newCoin(value);
  }

  #newCoin(value: number): void {
    if (value === 0 && !this.#spendsEmpty) return;
    this.outputs.set(
      this.chain.coin(value),
      Array.from({ length: value }, () => this.#nextSat++),
    );
  }

  run({ picks, cuts, envelopes }: Step): void {
    const there = [...this.outputs.keys()];
    const coins = [...new Set(picks.map((pick) => there[pick % there.length]!))];
    if (there.length === 0) return;
    const sats = coins.flatMap((coin) => this.outputs.get(coin)!);
    const starts = coins.map((_, at) => coins.slice(0, at).reduce((sum, coin) => sum + coin.value, 0));
    for (const coin of coins) this.outputs.delete(coin);
    let left = sats.length;
    const values = cuts.map((cut) => {
      const value = Math.min(left, Math.floor((sats.length * cut) / 10));
      left -= value;
      return value;
    });
    const total = sats.length - left;
    const targets = coins.map((_, at) => {
      const tenths = envelopes[at] ?? -1;
      return tenths < 0 ? null : tenths < 10 ? Math.floor((sats.length * tenths) / 10) : starts[at]!;
    });
    const scripts = coins.map((_, at) => {
      const tenths = envelopes[at] ?? -1;
      if (tenths < 0) return null;
      return tenths < 10 ? envelope(pointer(targets[at]!)) : envelope();
    });
    const payments = values.map((value) => ({ value }));
    const made = this.chain.transaction(coins, payments, scripts);
    this.#inscribe(made, coins, sats, starts, targets, total);
    this.#pay(made, sats);
    this.#fees.push({ sats: sats.slice(total), late: [] });
  }

  #inscribe(
    made: MadeTransaction,
    coins: readonly Coin[],
    sats: readonly Sat[],
    starts: readonly number[],
    targets: readonly (number | null)[],
    total: number,
  ): void {
    let index = 0;
    coins.forEach((coin, at) => {
      const target = targets[at];
      if (target === null || target === undefined) return;
      const id = made.id(index++);
      if (coin.value === 0) this.unbound.push(id);
      else this.inscribed.set(id, sats[target < total ? target : starts[at]!]!);
    });
  }

  #pay(made: MadeTransaction, sats: readonly Sat[]): void {
    let at = 0;
    for (const coin of made.coins) {
      const own = sats.slice(at, at + coin.value);
      at += coin.value;
      if (coin.value > 0 || this.#spendsEmpty) this.outputs.set(coin, own);
      own.forEach((sat, offset) => this.#place.set(sat, made.at(coin.vout, offset)));
    }
  }

  finishBlock(claimed: number): void {
    const sats = this.#fees.flatMap((fee) => fee.sats);
    this.#fees = [];
    const value = Math.floor((sats.length * claimed) / 10);
    const { coinbase } = this.chain.finishBlock([{ value }]);
    this.#pay(coinbase, sats);
    for (const sat of sats.slice(value)) {
      this.#place.set(sat, `${'0'.repeat(64)}:4294967295:${this.lost.length}`);
      this.lost.push(sat);
    }
  }

  satpoint(id: string): string | undefined {
    return this.#place.get(this.inscribed.get(id) ?? -1);
  }
}

test('every inscription stays on its sat, whatever moves', () => {
  fc.assert(
    fc.property(blocks, (program) => {
      const simulation = new SatSimulation(true);
      for (const { steps, claimed } of program) {
        for (const each of steps) simulation.run(each);
        simulation.finishBlock(claimed);
      }
      const { inscriptions, counters, tracked } = simulation.chain.store;
      expect(inscriptions).toHaveLength(simulation.inscribed.size + simulation.unbound.length);
      expect(counters).toMatchObject({
        lostSats: simulation.lost.length,
        unbound: simulation.unbound.length,
      });
      for (const inscription of inscriptions) {
        if (simulation.inscribed.has(inscription.id)) {
          expect(satpointOf(inscription)).toBe(simulation.satpoint(inscription.id));
        } else {
          expect(satpointOf(inscription)).toMatch(/^0{64}:0:\d+$/u);
        }
      }
      const inOutputs = inscriptions.filter(({ locations }) => locations.at(-1)?.place === 0);
      expect(tracked.size).toBe(inOutputs.length);
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('transactions without fees give the same inscriptions in one block as in several', () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(steps, fc.array(fc.boolean(), { maxLength: 12 }), (program, ends) => {
      const runs = [ends, []].map((blockEnds) => {
        const simulation = new SatSimulation(false);
        program.forEach((each, at) => {
          simulation.run({ ...each, cuts: [3, 3, 2, 10] });
          if (blockEnds[at] === true) simulation.finishBlock(10);
        });
        simulation.finishBlock(10);
        return simulation.chain.store;
      });
      const [several, one] = runs.map(({ inscriptions, counters }) => ({
        inscriptions: inscriptions.map((inscription) => ({
          id: inscription.id,
          number: inscription.number,
          curse: inscription.curse,
          charms: inscription.charms,
          satpoint: satpointOf(inscription),
        })),
        counters,
      }));
      expect(several).toEqual(one);
    }),
    { numRuns: propertyRuns(50) },
  );
});
