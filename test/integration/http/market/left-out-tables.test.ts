import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimDerivedTables } from '#indexer/derived/derived-state.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { alice, bob, Trades } from '#test/support/sales/trades.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const data = '/marketplace/data';
let node: IndexedNode;
let app: Awaited<ReturnType<typeof marketApp>>;
let sold: RegtestTransaction;
let itemId: string;

beforeAll(async () => {
  node = await startIndexedNode();
  const trades = new Trades(node);
  const item = await trades.item(alice);
  itemId = `${item.txid}i0`;
  sold = await trades.purchase(item.coin(0), bob, 70_000);
  await node.chain.mine([sold]);
  await node.atTip();
  await importItems(node.database, { slug: 'frogs' }, [[itemId, null]]);
  app = await marketApp(node.database);
});
afterAll(async () => {
  await app.close();
  await node.close();
});

/** The steps of the indexing process at its start. */
const claim = (wanted: { readonly indexSales?: boolean; readonly indexRunes?: boolean }): Promise<void> =>
  withTransaction(node.database.pool, (tx) =>
    claimDerivedTables(tx, networks.regtest, derivedTables, {
      indexAddresses: true,
      indexRunes: true,
      indexSats: false,
      indexSales: true,
      ...wanted,
    }),
  );

async function at(url: string): Promise<{ status: number; retry: boolean; text: string }> {
  const answer = await app.inject(url);
  return {
    status: answer.statusCode,
    retry: answer.headers['retry-after'] !== undefined,
    text: answer.body,
  };
}

/** Reads a page as HTML, because only clients that ask for HTML get the page. */
async function words(url: string): Promise<string> {
  return (await app.inject({ url, headers: { accept: 'text/html' } })).body;
}

const soldTab = `/address/${addressOf(alice)}?tab=sold`;

const ofSalesAlone = [
  `${data}/collections/activity?slug=frogs`,
  `${data}/collections/activity?slug=unknown`,
  `${data}/export?slug=frogs`,
  `${data}/export?slug=unknown`,
  `${data}/sales`,
  `${data}/sales/stream`,
  '/events?kind=sales',
  '/events/text/1?kind=sales',
];

describe('if the settings leave out sales', () => {
  test('every path that only needs sales says so, with a code and advice, whatever was indexed before', async () => {
    const urls = [...ofSalesAlone, `/sale/${sold.txid}`];
    await claim({ indexSales: false });
    // first an index that has sales, then an index that never had sales
    for (const remove of [false, true]) {
      if (remove) await node.database.pool.query(`DELETE FROM chain.derived_tables WHERE name = 'sales'`);
      for (const url of urls) {
        const { status, retry, text } = await at(url);
        expect([url, status, retry]).toEqual([url, 404, false]);
        expect(text).toContain('"code":"sales_not_indexed"');
        expect(text).toContain('INDEX_SALES=true');
      }
      const stats = JSON.parse((await at(`${data}/collections/frogs/stats`)).text) as object;
      expect(stats).toMatchObject({ sales: null, holders: 1, items: { indexed: 1 } });
      const items = JSON.parse((await at(`${data}/collections/frogs/items`)).text) as object;
      expect(items).toMatchObject({ items: [{ inscriptionId: itemId, lastSale: null }] });
      const list = JSON.parse((await at(`${data}/collections?q=frogs`)).text) as object;
      expect(list).toMatchObject({ countedFrom: null, collections: [{ slug: 'frogs', week: null }] });
      for (const page of ['/collection/frogs', '/market'])
        expect((await at(page)).text).toContain('INDEX_SALES is false');
      expect(await words(soldTab)).toContain('sales are not indexed here');
    }
    // the setting is on again, and the tables are being filled
    await claim({});
    for (const url of ofSalesAlone) {
      const { status, retry, text } = await at(url);
      expect([url, status, retry]).toEqual([url, 503, true]);
      expect(text).toContain('is being filled');
    }
    expect(await words(soldTab)).toContain('sales of earlier blocks are still being read');
    await node.database.pool.query(
      `UPDATE chain.derived_tables SET is_followed = true, tip_height = NULL, tip_hash = NULL WHERE name = 'sales'`,
    );
  });
});

describe('if the settings leave out runes', () => {
  test('events of runes say so, with a code and advice, whatever was indexed before', async () => {
    await claim({ indexRunes: false });
    for (const remove of [false, true]) {
      if (remove) await node.database.pool.query(`DELETE FROM chain.derived_tables WHERE name = 'runes'`);
      const { status, retry, text } = await at('/events?kind=runes');
      expect([status, retry]).toEqual([404, false]);
      expect(text).toContain('"code":"runes_not_indexed"');
      const rune = await at('/rune/UNCOMMON•GOODS');
      expect([rune.status, rune.text]).toEqual([
        404,
        expect.stringContaining('this server has no rune index'),
      ]);
    }
    await claim({});
  });
});

describe('holders of items that a block without spent outputs moved', () => {
  test('are unknown, not absent', async () => {
    const { pool } = node.database;
    const seen = async (slug: string): Promise<{ stats: object; page: string }> => {
      await importItems(node.database, { slug, name: slug }, [[itemId, null]]);
      const stats = JSON.parse((await at(`${data}/collections/${slug}/stats`)).text) as object;
      return { stats, page: (await at(`/collection/${slug}`)).text };
    };
    const { page, stats } = await seen('held');
    expect(stats).toMatchObject({ holders: 1, items: { held: 1, unknown: 0 } });
    expect(page).not.toContain('is unknown');
    // set the state after a block that spends the output, but lacks its spent outputs
    const { rows } = await pool.query<{ ctid: string }>(
      `UPDATE chain.locations SET spent_height = height WHERE spent_height IS NULL RETURNING ctid::text`,
    );
    const moved = await seen('moved');
    expect(moved.stats).toMatchObject({ holders: null, items: { held: 0, unknown: 1 } });
    expect(moved.page).toContain('<dt>holders</dt><dd>unknown</dd>');
    expect(moved.page).toContain('The holder of 1 item is unknown');
    await pool.query('UPDATE chain.locations SET spent_height = NULL WHERE ctid = ANY($1::text[]::tid[])', [
      rows.map(({ ctid }) => ctid),
    ]);
  });
});

describe('sums of sales of an index with gaps', () => {
  test('name the first block that they count', async () => {
    const { pool } = node.database;
    const from = async (): Promise<unknown> => {
      const fresh = await marketApp(node.database);
      const stats = await fresh.inject(`${data}/collections/frogs/stats`);
      const list = await fresh.inject(`${data}/collections`);
      const page = (await fresh.inject('/collection/frogs')).body;
      await fresh.close();
      const { countedFrom } = stats.json<{ sales: { countedFrom: number | null } }>().sales;
      expect(list.json<{ countedFrom: number | null }>().countedFrom).toBe(countedFrom);
      expect(page.includes('Sales are counted from block')).toBe(countedFrom !== null && countedFrom > 0);
      return countedFrom;
    };
    const expectUnknown = async (): Promise<void> => {
      const list = JSON.parse((await at(`${data}/collections?q=frogs`)).text) as object;
      expect(list).toMatchObject({ countedFrom: null, collections: [{ slug: 'frogs', week: null }] });
      for (const page of ['/collection/frogs', '/market'])
        expect((await at(page)).text).toContain('this index lacks the spent outputs of its last blocks');
      expect((await at('/collection/frogs')).text).toContain('<dt>sales</dt><dd>unknown</dd>');
      expect((await at('/market')).text).toContain('<span class="faint">unknown</span>');
    };
    expect(await from()).toBe(0);
    const tip = await node.bitcoind.rpc.call<number>('getblockcount');
    await pool.query('UPDATE chain.blocks SET has_spent = false, tx_count = 2 WHERE height = $1', [tip - 2]);
    expect(await from()).toBe(tip - 1);
    // stored data continue with new blocks, also after a block without spent outputs
    const kept = async (): Promise<unknown> =>
      (await app.inject(`${data}/collections/frogs/stats`)).json<{ sales: object }>().sales;
    const before = ((await kept()) as { countedFrom: number }).countedFrom;
    await node.chain.mine();
    await node.atTip();
    expect(await kept()).toMatchObject({ countedFrom: before });
    await node.chain.mine();
    await node.atTip();
    await pool.query('UPDATE chain.blocks SET has_spent = false, tx_count = 2 WHERE height = $1', [tip + 2]);
    expect(await kept()).toMatchObject({ countedFrom: null, total: null, last: { txid: sold.txid } });
    expect(await from()).toBe(null);
    await expectUnknown();
    await node.chain.mine();
    await node.atTip();
    expect(await kept()).toMatchObject({ countedFrom: tip + 3 });
  });
});
