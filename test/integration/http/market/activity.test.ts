import { Encoder } from 'cbor-x';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idBytes } from '#test/builders/regtest/regtest-envelope.ts';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const alice = 11;
const bob = 12;
const carol = 13;

let node: IndexedNode;
let purse: Purse;
let app: ReturnType<typeof buildCheckedApp>;
const path = '/marketplace/data/collections';
const cbor = new Encoder({ mapsAsObjects: false, useRecords: false });

type Row = Readonly<Record<string, unknown>>;

beforeAll(async () => {
  node = await startIndexedNode();
  purse = new Purse(node.chain);
  app = await marketApp(node.database);
});
afterAll(async () => {
  await app.close();
  await node.close();
});

async function get(url: string): Promise<{ status: number; body: unknown }> {
  const answer = await app.inject(`${path}/${url}`);
  return { status: answer.statusCode, body: answer.json<unknown>() };
}
async function activity(slug: string, query = ''): Promise<Row[]> {
  const { status, body } = await get(`activity?slug=${slug}${query}`);
  expect(status).toBe(200);
  return body as Row[];
}
/** Imports a collection; `x` is not indexed. */
const imported = (
  slug: string,
  items: readonly (readonly [string, string | null])[],
  digest?: string,
): Promise<void> => importItems(node.database, { slug }, items, digest);
const item = (): Promise<RegtestTransaction> => inscribed(node.chain, { body: 'an item' }, { to: alice });
const pricesOf = (rows: readonly Row[]): unknown[] => rows.map(({ price }) => price);

describe('the sales of a collection', () => {
  test('are rows of ten fields, newest first or oldest first, with the names of its list', async () => {
    const [first, second] = [await item(), await item()];
    const unknown = `${'ab'.repeat(32)}i0`;
    await imported('frogs', [
      [unknown, null],
      [idOfReveal(first), 'Green frog'],
      [idOfReveal(second), null],
    ]);
    const bought = await purse.purchase(first.coin(0), bob, 70_000);
    const other = await purse.purchase(second.coin(0), carol, 50_000);
    const { hash } = await node.chain.mine([bought, other]);
    await node.atTip();
    const { time } = await node.bitcoind.rpc.call<{ time: number }>('getblockheader', [hash]);
    const expected = {
      inscription_id: idOfReveal(first),
      inscription_name: 'Green frog',
      maker_address: addressOf(alice),
      taker_address: addressOf(bob),
      collection_slug: 'frogs',
      collection_name: 'Frogs',
      price: 70_000,
      trade_timestamp: `${new Date(time * 1000).toISOString().slice(0, 19)}.000000`,
      transaction_id: bought.txid,
      thumbnail_url: `https://ord.example.com/thumbnails/${idOfReveal(first)}.jpeg`,
    };
    const oldest = await activity('frogs', '&order=asc');
    expect(oldest).toEqual([
      expected,
      expect.objectContaining({ inscription_name: 'Frogs #3', price: 50_000 }),
    ]);
    expect(Object.keys(oldest[0]!).toSorted()).toEqual(Object.keys(expected).toSorted());
    expect(await activity('frogs')).toEqual(oldest.toReversed());
    const feed = await app.inject('/collection/frogs.atom');
    expect(feed.statusCode).toBe(200);
    expect(feed.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(feed.body.match(/<title>[^<]*/gu)).toEqual([
      '<title>Sales of Frogs',
      '<title>Frogs #3: 50,000 sats',
      '<title>Green frog: 70,000 sats',
    ]);
    expect(feed.body).toContain(`href="https://ord.example.com/sale/${bought.txid}"`);
    const kept = { 'if-none-match': String(feed.headers['etag']) };
    expect((await app.inject({ url: '/collection/frogs.atom', headers: kept })).statusCode).toBe(304);
    expect((await app.inject('/collection/no-such-one.atom')).statusCode).toBe(404);
    expect(await activity('frogs', '&page=1')).toEqual([]);
    expect(await activity('frogs', '&page=1000000000')).toEqual([]);
  });

  test('are found under each of its collections: an import, a parent and a gallery', async () => {
    const parent = await inscribed(node.chain, { body: 'a parent' }, { to: alice });
    const child = await inscribed(
      node.chain,
      { body: 'a child', parents: [idOfReveal(parent)] },
      { parents: [parent.coin(0)], to: alice },
    );
    const childId = idOfReveal(child);
    const properties = cbor.encode(
      new Map<number, unknown>([
        [0, [new Map([[0, idBytes(childId)]]), new Map([[0, idBytes(childId)]])]],
        [1, new Map([[0, 'My gallery']])],
      ]),
    );
    const gallery = await inscribed(
      node.chain,
      { body: 'a gallery', fields: [[17, properties]] },
      { to: alice },
    );
    await imported('pond', [[childId, null]]);
    // the child's output follows the output of its parent
    const bought = await purse.purchase(child.coin(1), bob, 40_000);
    await node.chain.mine([bought]);
    await node.atTip();
    const slugs = ['pond', idOfReveal(parent), idOfReveal(gallery)];
    const rows = await Promise.all(slugs.map((slug) => activity(slug)));
    expect(rows.map((found) => found.map((row) => row['collection_slug']))).toEqual(
      slugs.map((slug) => [slug]),
    );
    expect(rows.map(([row]) => row!['collection_name'])).toEqual([
      'Frogs',
      expect.stringMatching(/^Inscription \d+$/u),
      'My gallery',
    ]);
    expect(rows.map(([row]) => row!['inscription_name'])).toEqual([
      'Frogs #1',
      expect.stringMatching(/^Inscription \d+$/u),
      expect.stringMatching(/^Inscription \d+$/u),
    ]);
    expect(await activity(childId)).toEqual([]);
  });

  test('come in pages in the order of the chain, and disappear with their block', async () => {
    const sold = await item();
    await imported('once', [[idOfReveal(sold), null]]);
    const toBob = await purse.purchase(sold.coin(0), bob, 50_000);
    const toCarol = await purse.purchase(toBob.coin(1), carol, 60_000);
    const instead = await purse.purchase(sold.coin(0), carol, 55_000);
    const block = await node.chain.mine([toBob, toCarol]);
    await node.atTip();
    expect(pricesOf(await activity('once', '&order=asc'))).toEqual([50_000, 60_000]);
    expect(pricesOf(await activity('once', '&order=desc'))).toEqual([60_000, 50_000]);
    await node.bitcoind.rpc.call('invalidateblock', [block.hash]);
    await node.chain.mine([instead]);
    await node.chain.mine();
    await node.atTip();
    expect(pricesOf(await activity('once', '&order=asc'))).toEqual([55_000]);
  });

  test('of several pages are each on one page, in both orders', async () => {
    const items: string[] = [];
    const pages = 3;
    let coin = (await item().then((made) => (items.push(idOfReveal(made)), made))).coin(0);
    await imported(
      'many',
      items.map((id) => [id, null]),
    );
    for (let sale = 0; sale < 20 * pages - 5; sale += 5) {
      const chained: RegtestTransaction[] = [];
      for (let nth = 0; nth < 5; nth++) {
        const made = await purse.purchase(coin, nth % 2 === 0 ? bob : carol, 20_000 + sale + nth);
        coin = made.coin(1);
        chained.push(made);
      }
      await node.chain.mine(chained);
    }
    await node.atTip();
    for (const order of ['asc', 'desc']) {
      const found: Row[] = [];
      for (let page = 0; page < pages; page++)
        found.push(...(await activity('many', `&limit=20&page=${page}&order=${order}`)));
      const ascending = Array.from({ length: 55 }, (_, nth) => 20_000 + nth);
      expect(pricesOf(found)).toEqual(order === 'asc' ? ascending : ascending.toReversed());
    }
  });

  test('do not include deliveries of our own orders', async () => {
    const [delivered, sold] = [await item(), await item()];
    await imported('own', [
      [idOfReveal(delivered), null],
      [idOfReveal(sold), null],
    ]);
    const ours = await purse.purchase(delivered.coin(0), bob, 50_000);
    const bought = await purse.purchase(sold.coin(0), bob, 60_000);
    const { pool } = node.database;
    // only the transaction is tested, not the order
    await pool.query(
      'ALTER TABLE service.wallet_transactions DROP CONSTRAINT IF EXISTS wallet_transactions_order_id_fkey',
    );
    // like in a service, store the transaction before it is sent
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, gen_random_uuid(), 'reveal', 0, 0, '', '{}', 0)`,
      [Buffer.from(ours.txid, 'hex').reverse()],
    );
    await node.chain.mine([ours, bought]);
    await node.atTip();
    expect(pricesOf(await activity('own'))).toEqual([60_000]);
  });

  test('follow new blocks, and another import of the slug', async () => {
    const [first, second] = [await item(), await item()];
    await imported('growing', [[idOfReveal(first), 'First']]);
    const bought = await purse.purchase(first.coin(0), bob, 41_000);
    await node.chain.mine([bought]);
    await node.atTip();
    expect(pricesOf(await activity('growing'))).toEqual([41_000]);
    await node.chain.mine([await purse.purchase({ ...bought.coin(1), owner: bob }, carol, 42_000)]);
    await node.chain.mine([await purse.purchase(second.coin(0), carol, 43_000)]);
    await node.atTip();
    expect(pricesOf(await activity('growing'))).toEqual([42_000, 41_000]);
    await imported('growing', [[idOfReveal(second), 'Second']], 'another list');
    expect(await activity('growing')).toEqual([
      expect.objectContaining({ inscription_name: 'Second', price: 43_000 }),
    ]);
  });

  test('of the past are left out, unless an earlier date is given', async () => {
    const sold = await item();
    await imported('recent', [[idOfReveal(sold), null]]);
    const { hash } = await node.chain.mine([await purse.purchase(sold.coin(0), bob, 50_000)]);
    await node.atTip();
    const { time } = await node.bitcoind.rpc.call<{ time: number }>('getblockheader', [hash]);
    const day = new Date(time * 1000).toISOString().slice(0, 10);
    for (const included of ['', 'null', day, '1970-01-01'])
      expect(await activity('recent', `&startDate=${included}`)).toHaveLength(1);
    expect(await activity('recent', '&startDate=9999-12-31')).toEqual([]);
    // make all blocks ten days older; no list of this slug is stored yet
    await node.database.pool.query('UPDATE chain.blocks SET time = time - 864000');
    await imported('aged', [[idOfReveal(sold), null]]);
    expect(await activity('aged')).toEqual([]);
    expect(await activity('aged', '&startDate=1970-01-01')).toHaveLength(1);
    await node.database.pool.query('UPDATE chain.blocks SET time = time + 864000');
  });
});

describe('bad input', () => {
  const fault = (param: string, msg: string) => ({ msg: `${param} ${msg}`, param, location: 'query' });
  test.each([
    ['', [fault('slug', 'is required')]],
    ['?slug=', [fault('slug', 'is required')]],
    ['?slug=a&slug=b', [fault('slug', 'is given more than once')]],
    [`?slug=${'a'.repeat(300)}`, [fault('slug', 'has more than 100 characters')]],
    ['?slug=a&limit=19', [fault('limit', 'must be >= 20')]],
    ['?slug=a&limit=101', [fault('limit', 'must be <= 100')]],
    ['?slug=a&limit=abc', [fault('limit', 'is not a whole number')]],
    ['?slug=a&page=-1', [fault('page', 'must be >= 0')]],
    ['?slug=a&page=1e9', [fault('page', 'is not a whole number')]],
    ['?slug=a&page=1000000001', [fault('page', 'must be <= 1000000000')]],
    ['?slug=a&page=99999999999999999999999', [fault('page', 'must be <= 1000000000')]],
    ['?slug=a&startDate=2025-02-30', [fault('startDate', 'is not a date (YYYY-MM-DD)')]],
    ['?slug=a&startDate=2025-13-01', [fault('startDate', 'is not a date (YYYY-MM-DD)')]],
    ['?slug=a&startDate=yesterday', [fault('startDate', 'is not a date (YYYY-MM-DD)')]],
    ['?slug=a&order=up', [fault('order', 'must be one of asc, desc')]],
    [
      '?limit=19&page=-1&order=up&startDate=2025-02-30',
      [
        fault('slug', 'is required'),
        fault('startDate', 'is not a date (YYYY-MM-DD)'),
        fault('page', 'must be >= 0'),
        fault('limit', 'must be >= 20'),
        fault('order', 'must be one of asc, desc'),
      ],
    ],
  ])('%j has all its faults in one answer', async (query, errors) => {
    expect(await get(`activity${query}`)).toEqual({ status: 400, body: { errors } });
  });

  test.each(['none', '..%2F', '%00', 'a%00b', 'FROGS', '%F0%9F%90%B8', `${'ab'.repeat(32)}i0`])(
    'the slug %j has no sales',
    async (slug) => {
      expect(await get(`activity?slug=${slug}`)).toEqual({ status: 200, body: [] });
    },
  );
});
