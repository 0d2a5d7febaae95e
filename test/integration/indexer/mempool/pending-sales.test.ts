import { Encoder } from 'cbor-x';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idBytes } from '#test/builders/regtest/regtest-envelope.ts';
import {
  addressOf,
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { inscribed } from '#test/support/market/regtest-market.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { alice, bob, carol, listed, pairType, postage, Trades } from '#test/support/sales/trades.ts';

interface Sale {
  readonly inscriptionId: string;
  readonly txid: string;
  readonly replaces: string[];
  readonly outpoint: string;
  readonly price: number;
  readonly grossPayout: number;
  readonly makerAddress: string;
  readonly takerAddress: string;
  readonly bundle: number;
  readonly slug: string | null;
}
interface Page {
  readonly sales: Sale[];
  readonly floor: { readonly price: number; readonly inscriptionId: string } | null;
  readonly nextCursor: string | null;
}

/** The fields of an envelope with a gallery of ids. */
const galleryFields = (ids: readonly string[]): [number, Uint8Array][] => [
  [17, cbor.encode(new Map([[0, ids.map((id) => new Map([[0, idBytes(id)]]))]]))],
];
const cbor = new Encoder({ mapsAsObjects: false, useRecords: false });

const hasBitcoind = bitcoindThatRelaysReveals() !== null;
const display = (txid: string): Buffer => Buffer.from(txid, 'hex').reverse();

/** Counts of a sale that is either pending or mined. */
const inOnePlace = ['0,1', '1,0'];

/** A purchase after two dummies. After this fee, the rest goes to the buyer. */
interface Purchase {
  readonly price: number;
  readonly fee?: number;
}

describe.skipIf(!hasBitcoind)('sales in the mempool of a real node', () => {
  let live: LiveMempool;
  let trades: Trades;

  beforeAll(async () => {
    live = await LiveMempool.start();
    trades = new Trades(live);
    live.index();
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
  });
  afterAll(() => live.close());

  const page = (query = ''): Promise<Page> => live.get<Page>(`/mempool/sales${query}`);
  const pageAt = async (url: string): Promise<string> =>
    (await live.app.inject({ url, headers: { accept: 'text/html' } })).body;
  const salesOf = async (item: RegtestTransaction): Promise<Sale[]> =>
    (await page(`?inscription=${item.id()}`)).sales;

  async function purchase(
    of: Coin,
    buyer: number,
    { price, fee = 5_000 }: Purchase,
  ): Promise<RegtestTransaction> {
    const { dummies, money } = await trades.purse(buyer);
    return transaction(
      [...dummies.slice(0, 2), listed(of), money],
      [
        { value: 1_200, to: buyer },
        { value: of.value, to: buyer },
        { value: price + of.value, to: of.owner },
        { value: money.value - price - of.value - fee, to: buyer },
      ],
    );
  }

  const broadcast = async (...transactions: RegtestTransaction[]): Promise<void> => {
    for (const one of transactions) await live.chain.broadcast(one);
  };
  /** Makes an item, and waits until it is indexed. */
  const item = async (owner: number): Promise<RegtestTransaction> => {
    const made = await trades.item(owner);
    await live.indexed();
    return made;
  };

  /** Number of rows of a transaction among pending sales and among sales of blocks, at the same moment. */
  async function counted({ txid }: RegtestTransaction): Promise<[pending: number, mined: number]> {
    const { rows } = await live.database.pool.query<{ pending: number; mined: number }>(
      `SELECT (SELECT count(*)::integer FROM chain.pending_sales WHERE txid = $1) AS pending,
         (SELECT count(*)::integer FROM chain.sales WHERE txid = $1) AS mined`,
      [display(txid)],
    );
    const [row] = rows;
    return [row?.pending ?? 0, row?.mined ?? 0];
  }

  /** The fields that a pending sale and a mined sale share. */
  async function rowOf(table: 'pending_sales' | 'sales', { txid }: RegtestTransaction): Promise<unknown> {
    const { rows } = await live.database.pool.query(
      `SELECT input, place, gross_payout, price, bundle, payout_output, fee_output, rules, class, form, confidence, sighash,
         wash, maker, taker FROM chain.${table} WHERE txid = $1`,
      [display(txid)],
    );
    return rows;
  }

  test('appear with the transfer, and are the same once mined, never missing or twice', async () => {
    const sold = await item(alice);
    const bought = await purchase(sold.coin(0), bob, { price: 70_000 });
    await broadcast(bought);
    await live.eventually(async () => {
      const { rows } = await live.database.pool.query('SELECT FROM chain.pending_transfers WHERE txid = $1', [
        display(bought.txid),
      ]);
      expect(rows).toHaveLength(1);
    });
    // the same write adds both sales
    expect(await salesOf(sold)).toMatchObject([
      {
        inscriptionId: sold.id(),
        txid: bought.txid,
        replaces: [],
        outpoint: `${sold.txid}:0`,
        input: 2,
        class: 'sale',
        form: 'two-dummies',
        confidence: 'bound-known',
        sighash: pairType,
        price: 70_000,
        grossPayout: 80_000,
        makerAddress: addressOf(alice),
        takerAddress: addressOf(bob),
        bundle: 1,
        wash: false,
        fee: 5_000,
        slug: null,
      },
    ]);
    const shown = await pageAt(`/inscription/${sold.id()}`);
    expect(shown).toContain('Being sold for 70,000 sats');
    expect(shown).toContain(bought.txid);
    const sale = await pageAt(`/sale/${bought.txid}`);
    expect(sale).toMatch(
      /pending<\/span> It waits in the mempool.*<dt>First seen.*0\.0007 BTC \(70,000 sats\)/su,
    );
    for (const person of [alice, bob]) expect(sale).toContain(`href="/address/${addressOf(person)}"`);
    expect(sale).not.toContain('<dt>Block</dt>');
    const pending = await rowOf('pending_sales', bought);
    const seen = new Set<string>();
    let isMined = false;
    const watching = (async () => {
      while (!isMined) {
        const counts = await counted(bought);
        seen.add(String(counts));
        isMined = counts[1] === 1;
      }
    })();
    await live.chain.mine([bought]);
    await watching;
    expect(inOnePlace).toEqual(expect.arrayContaining([...seen]));
    expect(await rowOf('sales', bought)).toEqual(pending);
    expect(await salesOf(sold)).toEqual([]);
  });

  test('have one buyer for each output of a seller: another buyer replaces the first, a cancel ends it', async () => {
    const sold = await item(alice);
    const [byBob, byCarol] = [
      await purchase(sold.coin(0), bob, { price: 50_000 }),
      await purchase(sold.coin(0), carol, { price: 50_000, fee: 20_000 }),
    ];
    await live.indexed();
    await broadcast(byBob);
    await live.eventually(async () => expect(await salesOf(sold)).toHaveLength(1));
    let rowsMost = 0;
    let isReplaced = false;
    const watching = (async () => {
      while (!isReplaced) {
        const sales = await salesOf(sold);
        rowsMost = Math.max(rowsMost, sales.length);
        isReplaced = sales[0]?.txid === byCarol.txid;
      }
    })();
    await broadcast(byCarol);
    await watching;
    expect(rowsMost).toBe(1);
    expect(await salesOf(sold)).toMatchObject([
      { takerAddress: addressOf(carol), replaces: [byBob.txid], outpoint: `${sold.txid}:0` },
    ]);
    const coin = await live.chain.coin();
    const cancelled = transaction(
      [sold.coin(0), coin],
      [
        { value: postage, to: alice },
        { value: coin.value - 100_000, to: coin.owner },
      ],
    );
    await broadcast(cancelled);
    await live.eventually(async () => expect(await salesOf(sold)).toEqual([]));
    await live.chain.mine([cancelled]);
    await live.indexed();
  });

  test('disappear with a transaction that the node drops', async () => {
    const sold = await item(alice);
    const bought = await purchase(sold.coin(0), bob, { price: 30_000 });
    await broadcast(bought);
    await live.eventually(async () => expect(await salesOf(sold)).toHaveLength(1));
    await live.bitcoind.rpc.call('setmocktime', [Math.floor(Date.now() / 1000) + 15 * 86_400]);
    try {
      const coin = await live.chain.coin();
      await broadcast(transaction([coin], [{ value: coin.value - 10_000 }]));
      await live.eventually(async () => expect(await salesOf(sold)).toEqual([]));
    } finally {
      await live.bitcoind.rpc.call('setmocktime', [0]);
    }
  });

  test('of one item, one after another, are two, in the order in which they were seen', async () => {
    const sold = await item(alice);
    const first = await purchase(sold.coin(0), bob, { price: 50_000 });
    const second = await purchase(first.coin(1), carol, { price: 60_000 });
    await broadcast(first, second);
    const both = [
      { txid: first.txid, price: 50_000, makerAddress: addressOf(alice), takerAddress: addressOf(bob) },
      { txid: second.txid, price: 60_000, makerAddress: addressOf(bob), takerAddress: addressOf(carol) },
    ];
    await live.eventually(async () => expect(await salesOf(sold)).toMatchObject(both));
    // by pages of one sale, and by an address that buys in one sale and sells in the other
    const start = await page(`?inscription=${sold.id()}&limit=1`);
    const rest = await page(`?inscription=${sold.id()}&limit=1&cursor=${start.nextCursor}`);
    expect([...start.sales, ...rest.sales]).toMatchObject(both);
    expect(rest.nextCursor).toBeNull();
    expect((await page(`?address=${addressOf(bob)}`)).sales).toMatchObject(both);
    expect((await page(`?address=${addressOf(carol)}`)).sales).toMatchObject([both[1]]);
    await live.chain.mine([first, second]);
    await live.eventually(async () => expect(await counted(second)).toEqual([0, 1]));
    expect(await counted(first)).toEqual([0, 1]);
  });

  test('are pending again with their block, and yield to the buyer of the other branch', async () => {
    const sold = await item(alice);
    const [toBob, toCarol] = [
      await purchase(sold.coin(0), bob, { price: 50_000 }),
      await purchase(sold.coin(0), carol, { price: 50_000 }),
    ];
    await live.indexed();
    await broadcast(toBob);
    await live.eventually(async () => expect(await counted(toBob)).toEqual([1, 0]));
    await live.chain.mine([toBob]);
    await live.eventually(async () => expect(await counted(toBob)).toEqual([0, 1]));
    const seen = new Set<string>();
    let isPending = false;
    const watching = (async () => {
      while (!isPending) {
        const counts = await counted(toBob);
        seen.add(String(counts));
        isPending = counts[0] === 1;
      }
    })();
    await live.chain.takeBack(1);
    await watching;
    expect(inOnePlace).toEqual(expect.arrayContaining([...seen]));
    // a block has the other purchase, which was in no mempool
    await live.chain.mine([toCarol]);
    await live.chain.mineEmpty(1);
    await live.eventually(async () => {
      expect(await counted(toCarol)).toEqual([0, 1]);
      expect(await salesOf(sold)).toEqual([]);
    });
    expect(await counted(toBob)).toEqual([0, 0]);
  });

  test('of several inscriptions in one output share its price as in a block', async () => {
    const { transactions, reveal } = await live.chain.inscribe([{ body: 'one' }, { body: 'two' }], {
      to: alice,
      postage,
    });
    await live.chain.mine(transactions);
    await live.indexed();
    const bought = await purchase(reveal.coin(0), bob, { price: 50_001 });
    await broadcast(bought);
    await live.eventually(async () => expect(await counted(bought)).toEqual([2, 0]));
    const pending = await rowOf('pending_sales', bought);
    expect((await page(`?inscription=${reveal.id(1)}`)).sales).toMatchObject([{ price: 25_000, bundle: 2 }]);
    await live.chain.mine([bought]);
    await live.eventually(async () => expect(await counted(bought)).toEqual([0, 2]));
    expect(await rowOf('sales', bought)).toEqual(pending);
  });

  test('are found by collection, with the cheapest one, but without those of our own orders', async () => {
    const [one, other, stranger] = [await item(alice), await item(alice), await item(alice)];
    const { pool } = live.database;
    await pool.query(
      `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ('frogs', 'Frogs', 2, sha256('x'))`,
    );
    await pool.query(
      `INSERT INTO service.market_items (slug, place, index, txid) SELECT 'frogs', nth - 1, 0, txid
       FROM unnest($1::bytea[]) WITH ORDINALITY AS given(txid, nth)`,
      [[one, other].map(({ txid }) => display(txid))],
    );
    const [dear, cheap, outside] = [
      await purchase(one.coin(0), bob, { price: 90_000 }),
      await purchase(other.coin(0), bob, { price: 40_000 }),
      await purchase(stranger.coin(0), bob, { price: 10_000 }),
    ];
    await live.indexed();
    await broadcast(dear, cheap, outside);
    await live.eventually(async () => expect(await salesOf(stranger)).toHaveLength(1));
    const frogs = await page('?slug=frogs');
    expect(frogs).toMatchObject({
      floor: { price: 40_000, inscriptionId: other.id(), txid: cheap.txid },
      sales: [
        { txid: dear.txid, slug: 'frogs' },
        { txid: cheap.txid, slug: 'frogs' },
      ],
    });
    expect(await salesOf(one)).toMatchObject([{ slug: 'frogs' }]);
    expect(await live.get('/marketplace/data/collections/frogs/stats')).toMatchObject({
      sales: {
        total: { sales: 0 },
        pending: { floor: { price: 40_000, inscriptionId: other.id(), txid: cheap.txid } },
      },
    });
    expect(await page('?slug=toads')).toMatchObject({ sales: [], floor: null, nextCursor: null });
    await pool.query(
      'ALTER TABLE service.wallet_transactions DROP CONSTRAINT wallet_transactions_order_id_fkey',
    );
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, gen_random_uuid(), 'return', 0, 0, '', '{}', 0)`,
      [display(cheap.txid)],
    );
    expect(await page('?slug=frogs')).toMatchObject({
      floor: { price: 90_000 },
      sales: [{ txid: dear.txid }],
    });
    await pool.query('DELETE FROM service.wallet_transactions');
    await live.chain.mine([dear, cheap, outside]);
    await live.indexed();
  });

  test('are found by parent, by gallery, and by one inscription that is both', async () => {
    const parent = await item(alice);
    const parents = [parent.id()];
    const child = await inscribed(
      live.chain,
      { body: 'a child', parents },
      { parents: [parent.coin(0)], to: alice },
    );
    const [inGallery, stranger] = [await item(alice), await item(alice)];
    // with an index whose last byte is not 0, the test sees the order of its bytes
    const named = [`${inGallery.txid}i300`, inGallery.id()];
    const gallery = await inscribed(
      live.chain,
      { body: 'a gallery', fields: galleryFields(named) },
      { to: alice },
    );
    const both = await inscribed(live.chain, { body: 'both', fields: galleryFields(named) }, { to: alice });
    const childOfBoth = await inscribed(
      live.chain,
      { body: 'its child', parents: [both.id()] },
      { parents: [both.coin(0)], to: alice },
    );
    const price = 20_000;
    const [boughtChild, boughtItem, outside, boughtChildOfBoth] = [
      await purchase(child.coin(1), bob, { price }),
      await purchase(inGallery.coin(0), bob, { price: price + 1 }),
      await purchase(stranger.coin(0), bob, { price: price - 1 }),
      await purchase(childOfBoth.coin(1), bob, { price: price + 2 }),
    ];
    await live.indexed();
    await broadcast(boughtChild, boughtItem, outside, boughtChildOfBoth);
    await live.eventually(async () => expect(await salesOf(childOfBoth)).toHaveLength(1));
    const found: [RegtestTransaction, number, RegtestTransaction[]][] = [
      [parent, price, [boughtChild]],
      [gallery, price + 1, [boughtItem]],
      [both, price + 1, [boughtItem, boughtChildOfBoth]],
    ];
    for (const [collection, floor, sales] of found) {
      expect(await page(`?slug=${collection.id()}`)).toMatchObject({
        floor: { price: floor },
        sales: sales.map(({ txid }) => ({ txid, slug: collection.id() })),
      });
    }
    await live.chain.mine([boughtChild, boughtItem, outside, boughtChildOfBoth]);
    await live.indexed();
  });

  test('of a whole chain are in the first answer of a follower', async () => {
    await live.chain.mineEmpty(10);
    const sold = await item(alice);
    const chain: RegtestTransaction[] = [];
    for (let of = sold.coin(0); chain.length < 4; of = chain.at(-1)!.coin(1)) {
      const buyer = of.owner === bob ? carol : bob;
      chain.push(await purchase(of, buyer, { price: 20_000 + 1_000 * chain.length }));
    }
    await live.indexed();
    await live.stopFollowing();
    await broadcast(...chain);
    live.follow();
    let first: Page | null = null;
    await live.eventually(async () => {
      const answer = await live.app.inject(`/mempool/sales?inscription=${sold.id()}`);
      expect(answer.statusCode).toBe(200);
      first ??= answer.json<Page>();
    });
    expect(first).toMatchObject({ sales: chain.map(({ txid }) => ({ txid })) });
    await live.chain.mine(chain);
    await live.indexed();
  });

  test('that were mined without a follower are pending until their block is indexed', async () => {
    const sold = await item(alice);
    const first = await purchase(sold.coin(0), bob, { price: 50_000 });
    const second = await purchase(first.coin(1), carol, { price: 60_000 });
    await live.indexed();
    await live.stopFollowing();
    expect((await live.app.inject('/mempool/sales')).statusCode).toBe(503);
    await live.stopIndexing();
    await broadcast(first, second);
    await live.chain.mine([first, second]);
    live.follow();
    try {
      await live.eventually(async () => expect(await salesOf(sold)).toHaveLength(2));
    } finally {
      live.index();
    }
    expect((await salesOf(sold)).map(({ price }) => price)).toEqual([50_000, 60_000]);
    await live.eventually(async () => expect(await counted(second)).toEqual([0, 1]));
    expect(await counted(first)).toEqual([0, 1]);
  });

  test('wait for a table of sales that is being filled, and return with it', async () => {
    const { pool } = live.database;
    const sold = await item(alice);
    const bought = await purchase(sold.coin(0), bob, { price: 50_000 });
    await live.indexed();
    await broadcast(bought);
    await live.eventually(async () => expect(await salesOf(sold)).toHaveLength(1));
    const rows = async (): Promise<number> =>
      (await pool.query('SELECT FROM chain.mempool_sales')).rowCount ?? 0;
    // the table has its own tip, like after INDEX_SALES was off
    await pool.query(
      `UPDATE chain.derived_tables d SET is_followed = false, tip_height = s.tip_height, tip_hash = s.tip_hash
       FROM chain.state s WHERE d.name = 'sales'`,
    );
    try {
      const behind = await live.app.inject('/mempool/sales');
      expect(behind.statusCode).toBe(503);
      expect(behind.json()).toMatchObject({ code: 'derived_table_behind' });
      await live.eventually(async () => expect(await rows()).toBe(0));
    } finally {
      await pool.query(
        `UPDATE chain.derived_tables SET is_followed = true, tip_height = NULL, tip_hash = NULL WHERE name = 'sales'`,
      );
    }
    await live.eventually(async () => expect(await salesOf(sold)).toMatchObject([{ txid: bought.txid }]));
    await live.chain.mine([bought]);
    await live.indexed();
  });

  test('keep no block from being indexed, even if their tables are locked', async () => {
    const client = await live.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(`LOCK TABLE chain.mempool_state, chain.mempool_transactions, chain.mempool_inscriptions,
        chain.mempool_transfers, chain.mempool_sales, chain.mempool_departures IN ACCESS EXCLUSIVE MODE`);
      const sold = await item(alice);
      const bought = await purchase(sold.coin(0), bob, { price: 50_000 });
      await live.chain.mine([bought]);
      await live.indexed();
      const { rows } = await client.query('SELECT price FROM chain.sales WHERE txid = $1', [
        display(bought.txid),
      ]);
      expect(rows).toEqual([{ price: 50_000 }]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('are refused with the fault of a question', async () => {
    for (const [query, parameter] of [
      ['address=unknown', 'address'],
      ['inscription=none', 'inscription'],
      ['cursor=1.2', 'cursor'],
      ['cursor=1.2.3.4', 'cursor'],
      ['limit=1001', 'limit'],
      ['slug=', 'slug'],
      [`slug=${'a'.repeat(101)}`, 'slug'],
    ]) {
      const answer = await live.app.inject(`/mempool/sales?${query}`);
      expect(answer.statusCode, query).toBe(400);
      expect(answer.json()).toMatchObject({ parameter, code: 'request_invalid' });
    }
  });
});

test.skipIf(!hasBitcoind)('are not searched if sales are not indexed', async () => {
  const live = await LiveMempool.start();
  try {
    const trades = new Trades(live);
    live.index({ indexSales: false });
    const sold = await trades.item(alice);
    const bought = await trades.purchase(sold.coin(0), bob, 50_000);
    await live.indexed();
    live.follow();
    await live.chain.broadcast(bought);
    await live.eventually(async () => {
      const { transfers } = await live.get<{ transfers: unknown[] }>('/mempool/transfers');
      expect(transfers).toHaveLength(1);
    });
    const { rows } = await live.database.pool.query('SELECT FROM chain.mempool_sales');
    expect(rows).toEqual([]);
    const answer = await live.app.inject('/mempool/sales');
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ code: 'sales_not_indexed' });
  } finally {
    await live.close();
  }
});
