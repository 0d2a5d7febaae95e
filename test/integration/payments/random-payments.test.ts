import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { paymentFailpoints } from '#kernel/process/failpoint.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { FollowedPayments } from '#test/support/payments/followed-payments.ts';

/**
 * Number of rounds over all failpoints. SATSCRIBE_PAYMENTS_ROUNDS=20 makes a longer run, and SATSCRIBE_PAYMENTS_SEED=2
 * makes another run.
 */
// oxlint-disable-next-line node/no-process-env -- the length of a run by hand
const { SATSCRIBE_PAYMENTS_ROUNDS: roundsGiven = '1', SATSCRIBE_PAYMENTS_SEED: seed = '1' } = process.env;
const rounds = Number(roundsGiven);
const stepsBetween = 5;
/** Owners whose scripts are sometimes watched, and the owner who mines. */
const owners = [60, 61, 62, 63, 64, 1000];
const coinSats = 1_000_000;

describe.skipIf(bitcoindForTests() === null)('random payments, beside a real node', () => {
  let world: FollowedPayments;
  let random: Random;
  /** Coins of transactions that the test made, spent or not. The node refuses transactions that are not valid. */
  let coins: Coin[] = [];
  /** Transactions that were sent, with the coins that they spend. */
  const sent: { readonly made: RegtestTransaction; readonly spent: readonly Coin[] }[] = [];
  let baseHeight = 0;

  beforeAll(async () => {
    random = seededRandom(`payments ${seed}`);
    world = await FollowedPayments.start();
    const split = await world.chain.split(90, coinSats);
    coins = split.coins.slice(0, 90) as Coin[];
    await world.chain.mine([split]);
    // the transactions that make the coins are never taken back
    await world.chain.mineEmpty(6);
    baseHeight = await world.chain.height();
  });
  afterAll(() => world?.close());

  const oneOf = <Value>(values: readonly Value[]): Value => values[random.below(values.length)]!;
  const chance = (share: number): boolean => random.unit() < share;

  /** A transaction that spends these coins to random owners. One of them gets the rest. */
  function paying(from: readonly Coin[], fee: number): RegtestTransaction {
    let left = from.reduce((sum, { value }) => sum + value, 0) - fee;
    const payments: NewOutput[] = [];
    for (let index = random.below(3); index >= 0 && left > 20_000; index--) {
      const value = 10_000 + random.below(5000);
      payments.push({ value, to: oneOf(owners) });
      left -= value;
    }
    return transaction(from, [...payments, { value: Math.max(left, 1000), to: oneOf(owners) }]);
  }

  async function send(made: RegtestTransaction, spent: readonly Coin[]): Promise<void> {
    sent.push({ made, spent });
    try {
      await world.chain.broadcast(made);
      coins.push(...made.coins.filter((coin) => coin !== null));
    } catch {
      // the coins may be spent already, the fee may be too low, or the chain too long; the node decides
    }
  }

  const steps: Record<string, () => Promise<void>> = {
    pay: async () => {
      const from = Array.from({ length: 1 + random.below(2) }, () => oneOf(coins));
      const distinct = [...new Set(from)].filter(({ value }) => value > 5000);
      if (distinct.length > 0) await send(paying(distinct, 1000 + random.below(1000)), distinct);
    },
    replace: async () => {
      const old = sent.at(-1 - random.below(Math.min(8, Math.max(1, sent.length))));
      if (old !== undefined)
        await send(paying(old.spent, old.made.fee + 5000 + random.below(3000)), old.spent);
    },
    /**
     * Mines a block with a transaction that was in no mempool, and that conflicts with a transaction that may be in the
     * mempool.
     */
    conflict: async () => {
      const old = sent.at(-1 - random.below(Math.min(8, Math.max(1, sent.length))));
      if (old === undefined) return;
      const instead = paying(old.spent, 3000);
      await world.chain.mine([instead]).catch(() => undefined);
    },
    mine: async () => {
      await world.chain.mineMempool();
    },
    mineSilently: async () => {
      const coin = oneOf(coins);
      await world.chain.mine([paying([coin], 2000)]).catch(() => undefined);
    },
    takeBack: async () => {
      const depth = Math.min(1 + random.below(3), (await world.chain.height()) - baseHeight);
      if (depth > 0) await world.chain.takeBack(depth);
      const made = random.below(depth + 2);
      for (let block = 0; block < made; block++) {
        await (chance(0.5) ? world.chain.mineMempool() : world.chain.mine());
      }
    },
    watch: async () => {
      const sinceHeight = chance(0.5) ? 10_000 : random.below((await world.chain.height()) + 1);
      await world.watch(`order ${random.below(4)}`, {
        script: scriptOf(oneOf(owners)),
        sinceHeight: asHeight(sinceHeight),
      });
    },
    unwatch: async () => {
      if (chance(0.5)) await world.unwatch(`order ${random.below(4)}`, scriptOf(oneOf(owners)));
      else await world.unwatch(`order ${random.below(4)}`);
    },
    restart: async () => {
      await world.kill();
      world.follow();
    },
  };
  const names = Object.keys(steps);
  // payments are more frequent, because they matter most
  const weighted = [...names, 'pay', 'pay', 'pay', 'replace', 'replace', 'mine', 'conflict'];

  /**
   * Actions that make the process pass a failpoint: actions before the process is killed, and actions while nothing
   * runs.
   */
  const triggers: Record<
    (typeof paymentFailpoints)[number],
    { readonly before?: () => Promise<unknown>; readonly meanwhile: () => Promise<unknown> }
  > = {
    'payments-block': { meanwhile: () => world.chain.mineMempool() },
    'payments-scan': {
      meanwhile: () =>
        world.watch('scan', {
          script: scriptOf(2000 + random.below(1000)),
          sinceHeight: asHeight(baseHeight - 10),
        }),
    },
    'payments-undo': { before: () => world.chain.mine(), meanwhile: () => world.chain.takeBack(1) },
    'payments-watch': {
      meanwhile: () =>
        world.watch('new', { script: scriptOf(3000 + random.below(1000)), sinceHeight: asHeight(10_000) }),
    },
    'payments-mempool': {
      meanwhile: async () => {
        const coin = await world.chain.coin();
        const change = { value: coin.value - 20_000, to: 61 };
        await world.chain.broadcast(transaction([coin], [{ value: 10_000, to: 60 }, change]));
      },
    },
    // if a block is taken back, its coinbase is in no block and in no mempool
    'payments-gone': {
      before: async () => {
        const { coinbase } = await world.chain.mine();
        await world.watch('miner', { script: scriptOf(coinbase.owner), sinceHeight: genesisHeight });
      },
      meanwhile: async () => {
        await world.chain.takeBack(1);
        await world.chain.mineEmpty(2);
      },
    },
  };

  test(`after each of them the tables are what a scan of chain and mempool gives (seed ${seed})`, async () => {
    world.follow();
    let replaced = 0;
    for (let round = 0; round < rounds; round++) {
      for (const failpoint of paymentFailpoints) {
        for (let step = 0; step < stepsBetween; step++) await steps[oneOf(weighted)]!();
        await world.watch('always', { script: scriptOf(60), sinceHeight: genesisHeight });
        const { before, meanwhile } = triggers[failpoint];
        await before?.();
        if (before !== undefined || chance(0.5)) await world.seen();
        await world.kill();
        await meanwhile();
        world.follow(`${failpoint}:1`);
        await world.died();
        world.follow();
        replaced += (await world.seen()).replaced;
      }
    }
    expect(replaced).toBeGreaterThan(0);
  }, 600_000);
});
