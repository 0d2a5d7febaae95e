import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import {
  type Coin,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { alice, bob, carol, listed } from '#test/support/sales/trades.ts';

const items = 4;
/** Number of buyers' purses, and of steps of one walk. */
const purses = 40;
const steps = 36;

interface Purchase {
  readonly made: RegtestTransaction;
  /** The seller's output. */
  readonly of: Coin;
  readonly buyer: number;
  readonly price: number;
}

interface Seen {
  readonly pending: string[];
  readonly mined: string[];
}

const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');
const lineOf = ({ made, of, buyer, price }: Purchase): string =>
  `${made.txid} ${price} ${hexOf(of.owner)} ${hexOf(buyer)}`;

/** Purchases of some items on a real node. They are made on top of each other, replaced, mined and taken back. */
class Market {
  readonly #live: LiveMempool;
  readonly #random: Random;
  readonly #purchases = new Map<string, Purchase>();
  readonly #dummies = new Map<number, Coin[]>();
  readonly #money = new Map<number, Coin[]>();
  readonly #reveals: Coin[] = [];
  #start = 0;

  constructor(live: LiveMempool, random: Random) {
    this.#live = live;
    this.#random = random;
  }

  async open(): Promise<void> {
    const { chain } = this.#live;
    // mine as many coins as this walk spends, so that the next walk finds others
    await chain.mineEmpty(items + 4);
    const mined: RegtestTransaction[] = [];
    for (let item = 0; item < items; item++) {
      const { transactions, reveal } = await chain.inscribe({ body: `item ${item}` }, { to: alice });
      mined.push(...transactions);
      this.#reveals.push(reveal.coin(0));
    }
    const split = async (count: number, value: number, owner: number): Promise<Coin[]> => {
      const made = await chain.split(count, value, owner);
      mined.push(made);
      return Array.from({ length: count }, (_, vout) => made.coin(vout));
    };
    for (const buyer of [bob, carol]) {
      this.#dummies.set(buyer, await split(2 * purses, 600, buyer));
      this.#money.set(buyer, await split(purses, 300_000, buyer));
    }
    this.#start = (await chain.mine(mined)).height;
  }

  /** Makes one random step. The node may refuse its transaction. */
  async step(): Promise<void> {
    const kinds = [
      ...Array.from({ length: 5 }, () => () => this.#buy()),
      ...Array.from({ length: 3 }, () => () => this.#snipe()),
      () => this.#live.chain.mineMempool(),
      () => this.#mineOne((purchase) => purchase),
      // the service first sees the other purchase in its block
      () => this.#mineOne(({ of }) => this.#purchase(of)),
      () => this.#takeBack(),
    ];
    await this.#oneOf(kinds)?.();
  }

  /** The sales in the node's mempool, and in its blocks. */
  async expected(): Promise<Seen> {
    const { rpc } = this.#live.bitcoind;
    const pending = new Set(await rpc.call<string[]>('getrawmempool'));
    const mined = new Set<string>();
    const tip = await rpc.call<number>('getblockcount');
    for (let height = this.#start + 1; height <= tip; height++) {
      const hash = await rpc.call<string>('getblockhash', [height]);
      for (const txid of (await rpc.call<{ tx: string[] }>('getblock', [hash, 1])).tx) mined.add(txid);
    }
    return { pending: this.#lines(pending), mined: this.#lines(mined) };
  }

  async shown(): Promise<Seen> {
    const { rows } = await this.#live.database.pool.query<{ is_mined: boolean; line: string; txid: Buffer }>(
      `SELECT s.is_mined, s.txid,
         s.price || ' ' || encode(s.maker, 'hex') || ' ' || encode(s.taker, 'hex') AS line
       FROM (SELECT false AS is_mined, txid, price, maker, taker FROM chain.pending_sales
             UNION ALL SELECT true, txid, price, maker, taker FROM chain.sales) AS s
       WHERE s.txid = ANY ($1)`,
      [[...this.#purchases.keys()].map((txid) => Buffer.from(txid, 'hex').reverse())],
    );
    const lines = (isMined: boolean): string[] =>
      rows
        .filter((row) => row.is_mined === isMined)
        .map(({ line, txid }) => `${Buffer.from(txid).reverse().toString('hex')} ${line}`)
        .toSorted();
    return { pending: lines(false), mined: lines(true) };
  }

  get count(): number {
    return this.#purchases.size;
  }

  #lines(txids: ReadonlySet<string>): string[] {
    const known = [...this.#purchases.values()].filter(({ made }) => txids.has(made.txid));
    return known.map(lineOf).toSorted();
  }

  #oneOf<Value>(values: readonly Value[]): Value | undefined {
    return values[this.#random.below(values.length)];
  }

  #purchase(of: Coin): Purchase {
    const others = [bob, carol].filter((buyer) => buyer !== of.owner);
    const buyer = this.#oneOf(others) ?? bob;
    const dummies = this.#dummies.get(buyer)!.splice(0, 2);
    const [money] = this.#money.get(buyer)!.splice(0, 1);
    if (money === undefined) throw new Error('a buyer has no purse left');
    const price = 10_000 + this.#random.below(50_000);
    // each purchase pays more than earlier purchases, so it may replace them
    const fee = 2_000 + this.#purchases.size * 2_000;
    const made = transaction(
      [...dummies, listed(of), money],
      [
        { value: 1_200, to: buyer },
        { value: of.value, to: buyer },
        { value: price + of.value, to: of.owner },
        { value: money.value - price - of.value - fee, to: buyer },
      ],
    );
    const purchase = { made, of, buyer, price };
    this.#purchases.set(made.txid, purchase);
    return purchase;
  }

  async #buy(): Promise<void> {
    const coins = [...this.#reveals, ...[...this.#purchases.values()].map(({ made }) => made.coin(1))];
    const unspent: Coin[] = [];
    for (const coin of coins) {
      const there = await this.#live.bitcoind.rpc.call<unknown>('gettxout', [coin.txid, coin.vout, true]);
      if (there !== null) unspent.push(coin);
    }
    const of = this.#oneOf(unspent);
    if (of !== undefined) await this.#broadcast(this.#purchase(of));
  }

  async #snipe(): Promise<void> {
    const victim = this.#oneOf(await this.#pending());
    if (victim !== undefined) await this.#broadcast(this.#purchase(victim.of));
  }

  async #mineOne(chosen: (victim: Purchase) => Purchase): Promise<void> {
    const roots: Purchase[] = [];
    for (const purchase of await this.#pending()) {
      const { rpc } = this.#live.bitcoind;
      const entry = await rpc.call<{ depends: string[] }>('getmempoolentry', [purchase.made.txid]);
      if (entry.depends.length === 0) roots.push(purchase);
    }
    const root = this.#oneOf(roots);
    if (root !== undefined) await this.#live.chain.mine([chosen(root).made]);
  }

  async #takeBack(): Promise<void> {
    const depth = 1 + this.#random.below(2);
    const height = await this.#live.chain.height();
    if (height - depth >= this.#start) await this.#live.chain.takeBack(depth);
  }

  async #pending(): Promise<Purchase[]> {
    const txids = await this.#live.bitcoind.rpc.call<string[]>('getrawmempool');
    return txids.flatMap((txid) => this.#purchases.get(txid) ?? []);
  }

  /**
   * Sends a purchase. The node refuses a replacement that pays too little. Such a replacement is neither in the mempool
   * nor in a block.
   */
  async #broadcast({ made }: Purchase): Promise<void> {
    try {
      await this.#live.chain.broadcast(made);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'node_call_failed') throw error;
    }
  }
}

describe.skipIf(bitcoindThatRelaysReveals() === null)('sales of a random market on a real node', () => {
  let live: LiveMempool;

  beforeAll(async () => {
    live = await LiveMempool.start();
    live.index();
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
  });
  afterAll(() => live.close());

  /**
   * Number of sales that are found twice at the same moment: two purchases of one output, or a sale that is both
   * pending and mined.
   */
  async function doubles(): Promise<number> {
    const { rows } = await live.database.pool.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM (
           SELECT FROM chain.pending_sales GROUP BY from_txid, from_vout HAVING count(*) > 1) AS twice)::integer
         + (SELECT count(*) FROM chain.pending_sales JOIN chain.sales USING (txid))::integer AS count`,
    );
    return rows[0]?.count ?? 0;
  }

  test.each(Array.from({ length: propertyRuns(1) }, (_, at) => `walk ${at + 1}`))(
    'are those of its mempool and of its blocks, and never found twice: %s',
    async (seed) => {
      const market = new Market(live, seededRandom(seed));
      await market.open();
      await live.indexed();
      let isOver = false;
      let doublesMost = 0;
      const watching = (async () => {
        while (!isOver) doublesMost = Math.max(doublesMost, await doubles());
      })();
      try {
        for (let step = 0; step < steps; step++) {
          await market.step();
          // sometimes do several steps before a comparison
          if (step % 3 === 2)
            await live.eventually(async () => expect(await market.shown()).toEqual(await market.expected()));
        }
      } finally {
        isOver = true;
        await watching;
      }
      expect(doublesMost).toBe(0);
      const { pending, mined } = await market.expected();
      expect(market.count).toBeGreaterThan(10);
      expect(pending.length + mined.length).toBeGreaterThan(0);
      await live.chain.mineMempool();
      await live.eventually(async () => expect((await market.shown()).pending).toEqual([]));
    },
  );
});
