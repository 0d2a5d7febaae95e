import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDecimal } from '#fx/fx-rates.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import {
  addSoldItems,
  openSoldCollection,
  removeSoldItems,
} from '#market/collections/sold-collection.store.ts';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const alice = 11;
const bob = 12;

/** Dollars per bitcoin; `null` if unknown. */
let bitcoin: string | null = null;
let node: IndexedNode;
let app: ReturnType<typeof buildCheckedApp>;
let item: string;
let bought: RegtestTransaction;
let before: RegtestTransaction;
let again: RegtestTransaction;

beforeAll(async () => {
  node = await startIndexedNode();
  const purse = new Purse(node.chain);
  app = await marketApp(node.database, {
    fxRates: async () =>
      bitcoin === null ? null : { usd: new Map([['bitcoin', readDecimal(bitcoin)!]]), updatedAt: new Date() },
  });
  const made = await inscribed(node.chain, { body: 'an item' }, { to: alice });
  item = idOfReveal(made);
  bought = await purse.purchase(made.coin(0), bob, 50_000);
  await node.chain.mine([bought]);
  const frog = await inscribed(node.chain, { body: 'a frog' }, { to: alice });
  before = await purse.purchase(frog.coin(0), bob, 70_000);
  await node.chain.mine([before]);
  again = await purse.purchase({ ...before.coin(1), owner: bob }, alice, 234_500);
  await node.chain.mine([again]);
  await node.atTip();
  await importItems(node.database, { slug: 'ponds', name: 'Ponds' }, [[idOfReveal(frog), 'Green <b>frog']]);
});
afterAll(async () => {
  await app.close();
  await node.close();
});

const page = async (url: string): Promise<{ status: number; text: string }> => {
  const answer = await app.inject({ url, headers: { accept: 'text/html' } });
  return { status: answer.statusCode, text: answer.body };
};

describe('a sale', () => {
  test('has a page with its picture, its people and its evidence', async () => {
    const { status, text } = await page(`/sale/${bought.txid}`);
    expect(status).toBe(200);
    for (const words of [
      '<h1 class="wrap">Sale of <bdi>Inscription ',
      `src="/thumbnails/${item}.jpeg"`,
      '0.0005 BTC (50,000 sats)',
      'The seller only signed that the item is spent, and that the transaction pays 60,000 sats to output 2.',
      'the layout of purchases on Magic Eden, OKX and ordit',
      'input 2, signed with SINGLE | ANYONECANPAY',
      `href="/tx/${bought.txid}"`,
      `href="/address/${addressOf(alice)}"`,
      `href="/address/${addressOf(bob)}"`,
      `href="/inscription/${item}"`,
    ])
      expect(text).toContain(words);
    expect(text).toContain('<dt>Wash</dt><dd>no</dd>');
    expect(text).not.toContain('Other sales of this item');
    expect(text).not.toContain('at the current rate');
  });

  test.each([
    ['64000.5', 'about $32.00 at the current rate'],
    ['2500000', 'about $1,250.00 at the current rate'],
  ])('has its price in dollars if a coin costs %s', async (rate, words) => {
    bitcoin = rate;
    const { text } = await page(`/sale/${bought.txid}`);
    bitcoin = null;
    expect(text).toContain(`<b>0.0005 BTC (50,000 sats)</b> <span class="faint">${words}</span>`);
  });

  test('links to the other sales of its item, and has the item’s name in its collection', async () => {
    const { text } = await page(`/sale/${again.txid}`);
    expect(text).toContain('Sale of <bdi>Green &lt;b&gt;frog</bdi>');
    expect(text).toContain('<a href="/collection/ponds"><bdi>Ponds</bdi></a>');
    expect(text).toContain('Other sales of this item');
    const others = text.slice(text.indexOf('Other sales of this item'));
    expect(others.match(/href="\/sale\/[0-9a-f]{64}"/gu)).toEqual([`href="/sale/${before.txid}"`]);
  });

  test('is found by its transaction, like the sold inscription', async () => {
    const found = await app.inject({ url: `/search/suggest?text=${bought.txid}` });
    expect(found.json<{ names: unknown }>().names).toMatchObject([
      { kind: 'transaction', path: `/tx/${bought.txid}` },
      { kind: 'sale', path: `/sale/${bought.txid}` },
    ]);
    const typed = await app.inject({ url: `/?q=${bought.txid}`, headers: { accept: 'text/html' } });
    expect(typed.headers.location).toBe(`/tx/${bought.txid}`);
    const { text } = await page(`/?hash=${bought.txid}`);
    expect(text).toContain('Not the hash of a content');
    expect(text).toContain('for 50,000 sats');
    expect((await app.inject(`/search/${bought.txid}`)).headers.location).toBe(`/tx/${bought.txid}`);
  });

  test('is JSON for programs', async () => {
    const answer = await app.inject({ url: `/sale/${bought.txid}`, headers: { accept: 'application/json' } });
    expect(answer.json()).toEqual({
      txid: bought.txid,
      sales: [
        {
          inscriptionId: item,
          txid: bought.txid,
          height: expect.any(Number) as unknown,
          time: expect.any(Number) as unknown,
          input: 2,
          class: 'sale',
          form: 'two-dummies',
          confidence: 'bound-known',
          grossPayout: 60_000,
          price: 50_000,
          bundle: 1,
          payoutOutput: 2,
          feeOutput: null,
          sighash: 0x83,
          rules: expect.any(Number) as unknown,
          maker: addressOf(alice),
          taker: addressOf(bob),
          wash: false,
        },
      ],
      hasAll: true,
    });
  });

  test('is listed on the page of its inscription', async () => {
    const { text } = await page(`/inscription/${item}`);
    expect(text).toContain('<h2>History');
    expect(text).toContain(`<a href="/sale/${bought.txid}">Sold for`);
  });

  test('does not include deliveries of this service’s orders, on any page', async () => {
    const { pool } = node.database;
    await pool.query(
      'ALTER TABLE service.wallet_transactions DROP CONSTRAINT wallet_transactions_order_id_fkey',
    );
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, gen_random_uuid(), 'return', 0, 0, '', '{}', 0)`,
      [Buffer.from(bought.txid, 'hex').reverse()],
    );
    expect((await page(`/sale/${bought.txid}`)).status).toBe(404);
    const { status, text } = await page(`/inscription/${item}`);
    expect(status).toBe(200);
    expect(text).not.toContain('<h2>Sales</h2>');
    const found = await app.inject({ url: `/search/suggest?text=${bought.txid}` });
    expect(found.json<{ names: unknown }>().names).toMatchObject([
      { kind: 'transaction', path: `/tx/${bought.txid}` },
    ]);
    await pool.query('DELETE FROM service.wallet_transactions');
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, gen_random_uuid(), 'return', 0, 0, '', '{}', 0)`,
      [Buffer.from(again.txid, 'hex').reverse()],
    );
    const home = (await page('/')).text;
    expect(home).not.toContain(`/sale/${again.txid}`);
    expect(home).toContain(`/sale/${before.txid}`);
    await pool.query('DELETE FROM service.wallet_transactions');
  });

  test('of more inscriptions than a page shows has the first thousand', async () => {
    const { pool } = node.database;
    const columns = `gross_payout, price, height, tx_index, input, key, payout_output, fee_output, rules, class, form,
      confidence, sighash, wash, txid, maker, taker`;
    await pool.query(
      `INSERT INTO chain.sales (${columns}, place, bundle)
       SELECT ${columns}, nth, 1001 FROM chain.sales, generate_series(1, 1000) AS nth WHERE txid = $1`,
      [Buffer.from(bought.txid, 'hex').reverse()],
    );
    const answer = await app.inject({ url: `/sale/${bought.txid}`, headers: { accept: 'application/json' } });
    const { sales, hasAll } = answer.json<{ sales: unknown[]; hasAll: boolean }>();
    expect([sales.length, hasAll]).toEqual([1_000, false]);
    expect((await page(`/sale/${bought.txid}`)).text).toContain('More than 1,000 sales');
    await pool.query('DELETE FROM chain.sales WHERE place > 0');
  });

  test('of a script that is stored truncated names its seller by the hash, as in the activity', async () => {
    const { pool } = node.database;
    const cut = Buffer.concat([Buffer.alloc(97, 0x51), Buffer.alloc(32, 0xab)]);
    const seller = `sha256:${'ab'.repeat(32)}`;
    const txid = Buffer.from(bought.txid, 'hex').reverse();
    const { rows } = await pool.query<{ maker: Buffer }>('SELECT maker FROM chain.sales WHERE txid = $1', [
      txid,
    ]);
    await pool.query('UPDATE chain.sales SET maker = $2 WHERE txid = $1', [txid, cut]);
    const answer = await app.inject({ url: `/sale/${bought.txid}`, headers: { accept: 'application/json' } });
    expect(answer.json()).toMatchObject({ sales: [{ maker: seller }] });
    const { text } = await page(`/sale/${bought.txid}`);
    expect(text).toContain(`title="${seller}">${seller}</span>`);
    await pool.query('UPDATE chain.sales SET maker = $2 WHERE txid = $1', [txid, rows[0]!.maker]);
  });

  test.each([
    ['00'.repeat(32), 404],
    ['abc', 400],
    [`${'00'.repeat(32)}i0`, 400],
  ])('%s is not a sale', async (txid, status) => {
    expect((await page(`/sale/${txid}`)).status).toBe(status);
  });
});

describe('a collection that this service sells', () => {
  const get = async (path: string): Promise<unknown> => {
    const answer = await app.inject(`/marketplace/data/collections/${path}`);
    expect([path, answer.statusCode]).toEqual([path, 200]);
    return answer.json();
  };

  test('is in the market without items, with items of its orders, and with their sales', async () => {
    const { pool } = node.database;
    await withTransaction(pool, (tx) =>
      openSoldCollection(tx, {
        slug: 'sold-here',
        name: 'Sold here',
        description: 'Frogs.',
        website: null,
        twitter: null,
        discord: null,
      }),
    );
    expect(await get('sold-here/items')).toMatchObject({ items: [] });
    expect(await get('sold-here/holders')).toMatchObject({ holders: [] });
    expect(await get('sold-here/stats')).toMatchObject({
      items: { listed: 0 },
      sales: { total: { sales: 0 } },
    });
    const empty = await page('/collection/sold-here');
    expect([empty.status, empty.text.includes('Sold here')]).toEqual([200, true]);

    const id = parseInscriptionId(item)!;
    await withTransaction(pool, (tx) => addSoldItems(tx, 'sold-here', [{ id, name: 'Sold here #7' }]));
    expect(await get('sold-here/items')).toMatchObject({ items: [{ name: 'Sold here #7' }] });
    expect(await get('sold-here/holders')).toMatchObject({
      holders: [{ address: addressOf(bob) }],
    });
    expect(await get('sold-here/stats')).toMatchObject({
      items: { listed: 1, held: 1 },
      sales: { total: { sales: 1, volume: 50_000 } },
    });
    const activity = await app.inject(
      '/marketplace/data/collections/activity?slug=sold-here&startDate=2009-01-03',
    );
    expect(activity.json()).toMatchObject([{ price: 50_000 }]);
    expect((await page('/collection/sold-here')).text).toContain('Sold here #7');

    await withTransaction(pool, (tx) => removeSoldItems(tx, 'sold-here', [id]));
    expect(await get('sold-here/stats')).toMatchObject({
      items: { listed: 0 },
      sales: { total: { sales: 0 } },
    });
    expect(await get('sold-here/items')).toMatchObject({ items: [] });
  });
});
