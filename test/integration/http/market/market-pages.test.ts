import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const alice = 11;
const bob = 12;
const hostile = '<img src=x onerror=alert(1)>\u202e';

const frogTraits: Readonly<Record<string, string>>[] = [
  { Skin: 'Green', 'Eyes, both': 'a:b\\c' },
  { Skin: 'Green', Hat: '<b>&"\u0301' },
  { Skin: 'Red', 'Eyes, both': 'a:b\\c' },
];

let node: IndexedNode;
let app: ReturnType<typeof buildCheckedApp>;
let frogs: RegtestTransaction[];
let toad: RegtestTransaction;
let sales: RegtestTransaction[];

beforeAll(async () => {
  node = await startIndexedNode();
  const purse = new Purse(node.chain);
  app = await marketApp(node.database);
  const item = (body: string): Promise<RegtestTransaction> => inscribed(node.chain, { body }, { to: alice });
  frogs = [await item('one'), await item('two'), await item('three')];
  toad = await item('a toad');
  const loose = await item('in no collection');
  await importItems(
    node.database,
    { slug: 'frogs', name: 'Frogs', description: hostile },
    frogs.map((frog, nth) => [idOfReveal(frog), ['Frog 10', 'Frog 9', null][nth] ?? null, frogTraits[nth]]),
  );
  await importItems(node.database, { slug: 'toads', name: hostile.slice(0, -1) }, [
    [idOfReveal(toad), hostile],
  ]);
  const toBob = await purse.purchase(frogs[0]!.coin(0), bob, 70_000);
  sales = [
    toBob,
    await purse.purchase({ ...toBob.coin(1), owner: bob }, alice, 90_000),
    await purse.purchase(frogs[1]!.coin(0), bob, 50_000),
    await purse.purchase(toad.coin(0), bob, 400_000),
    await purse.purchase(loose.coin(0), bob, 20_000),
    await purse.purchase(frogs[2]!.coin(0), alice, 10_000),
  ];
  for (const sale of sales) await node.chain.mine([sale]);
  await node.atTip();
  await setTimes();
});
afterAll(async () => {
  await app.close();
  await node.close();
});

/** Sets the times of blocks, so that the first sale was two days before the last block. */
const setTimes = (): Promise<unknown> =>
  node.database.pool.query(
    `UPDATE chain.blocks SET time = 1700000000 + height
       - CASE WHEN height = (SELECT min(height) FROM chain.sales) THEN 2 * 86400 ELSE 0 END`,
  );

async function page(url: string): Promise<string> {
  const { statusCode, body } = await app.inject({ url, headers: { accept: 'text/html' } });
  expect([url, statusCode]).toEqual([url, 200]);
  return body;
}
/** The texts of the rows of a table, with cells separated by bars. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<tr>(.*?)<\/tr>/gsu)].map(([, row = '']) =>
    row
      .replaceAll(/<\/t[dh]>/gu, ' | ')
      .replaceAll(/<[^>]*>/gu, ' ')
      .replaceAll(/\s+/gu, ' ')
      .trim(),
  );
const collectionRows = (text: string): string[] =>
  rowsOf(text.slice(text.indexOf('id="collections"'))).slice(1);

describe('the market', () => {
  test('has the volume, number and lowest price of a day, a week and a month, and the newest sales', async () => {
    const text = await page('/market');
    const [frogRow, toadRow] = collectionRows(text).toReversed();
    expect(frogRow).toBe(
      'Frogs | 50,000 sats | 140,000 sats 2 sales | 210,000 sats 3 sales | 210,000 sats 3 sales | 3 |',
    );
    expect(toadRow).toContain('| 400,000 sats | 400,000 sats 1 sale |');
    expect(text.replaceAll(/<[^>]*>/gu, ' ')).toMatch(/24 hours: 4 sales\s+560,000 sats/u);
    expect(text.match(/href="\/sale\/[0-9a-f]{64}"/gu)).toEqual(
      sales.toReversed().map(({ txid }) => `href="/sale/${txid}"`),
    );
    expect(text).toContain('<a class="faint" href="/collection/frogs"><bdi>Frogs</bdi></a>');
    expect(text).not.toContain('<img src=x');
    expect(text).toContain('Volume of all sales, by day');
  });

  test.each([
    ['volume-day', 'desc', ['toads', 'frogs']],
    ['volume-month', 'asc', ['frogs', 'toads']],
    ['sales-week', 'desc', ['frogs', 'toads']],
    ['lowest', 'desc', ['toads', 'frogs']],
    ['lowest', 'asc', ['frogs', 'toads']],
    ['items', 'desc', ['frogs', 'toads']],
    ['name', 'asc', ['toads', 'frogs']],
    ['name', 'desc', ['frogs', 'toads']],
  ])('is sorted by %s, %s', async (sort, order, slugs) => {
    const text = await page(`/market?sort=${sort}&order=${order}`);
    const list = text.slice(text.indexOf('id="collections"'));
    expect(
      [...list.matchAll(/class="named" href="\/collection\/([a-z]+)"/gu)].map(([, slug]) => slug),
    ).toEqual(slugs);
    expect(list.match(/aria-current="true"/gu)).toHaveLength(1);
  });

  test('finds collections by name, and keeps the order of the list', async () => {
    const text = await page('/market?q=FROG&sort=items');
    expect(collectionRows(text)).toHaveLength(1);
    expect(text).toContain('<input type="hidden" name="sort" value="items">');
    expect(text).not.toContain('Latest sales');
  });
});

describe('all sales', () => {
  const txids = (text: string): (string | undefined)[] =>
    [...text.matchAll(/href="\/sale\/([0-9a-f]{64})"/gu)].map(([, txid]) => txid);

  test('are newest first, and match the filters', async () => {
    const all = sales.toReversed().map(({ txid }) => txid);
    expect(txids(await page('/market/activity'))).toEqual(all);
    expect(txids(await page('/market/activity?wash=hidden'))).toEqual(all.slice(1));
    expect(txids(await page('/market/activity?from=70000&to=90000&class=sale'))).toEqual(
      [sales[1], sales[0]].map((sale) => sale!.txid),
    );
    expect(await page('/market/activity?class=offer')).toContain('No sale matches.');
  });

  test('come in pages', async () => {
    const { pool } = node.database;
    const columns = `gross_payout, price, height, tx_index, key, payout_output, fee_output, rules, class, form,
      confidence, sighash, wash, txid, maker, taker, place, bundle`;
    const [first] = sales;
    const hash = Buffer.from(first!.txid, 'hex').reverse();
    await pool.query(
      `INSERT INTO chain.sales (${columns}, input)
       SELECT ${columns}, 100 + nth FROM chain.sales, generate_series(1, 6000) AS nth WHERE txid = $1`,
      [hash],
    );
    const second = await page('/market/activity');
    expect(txids(second)).toHaveLength(50);
    const next = /href="(\/market\/activity\?[^"]*before=[^"]*)" rel="next"/u.exec(second)?.[1];
    expect(next).toContain('.');
    const older = await page(next!.replaceAll('&amp;', '&'));
    expect(new Set(txids(older))).toEqual(new Set([first!.txid]));
    expect(older).toContain('rel="first"');
    // none of the first 5,000 sales matches, and the page links to the sales after them
    const none = await page('/market/activity?from=1000000');
    expect(none).toContain('No match among the last 5,000 checked sales');
    const rest = /href="(\/market\/activity\?[^"]*before=[^"]*)" rel="next"/u.exec(none)?.[1];
    expect(await page(rest!.replaceAll('&amp;', '&'))).toContain('No sale matches.');
    await pool.query('DELETE FROM chain.sales WHERE input > 100');
  });

  test.each(['before=x', 'from=-1', 'to=1.5', 'class=all,sale', 'before=99999999999.0.0.0'])(
    'refuse %s',
    async (query) => {
      expect((await app.inject(`/market/activity?${query}`)).statusCode).toBe(400);
    },
  );
});

describe('the sales of an address', () => {
  const shown = (text: string): (string | undefined)[] =>
    [...text.matchAll(/href="\/sale\/([0-9a-f]{64})"/gu)].map(([, txid]) => txid);
  const words = (text: string): string => text.replaceAll(/<[^>]*>/gu, '').replaceAll(/\s+/gu, ' ');
  const path = (owner: number, tab: string): string => `/address/${addressOf(owner)}?tab=${tab}`;
  const nth = (...numbers: number[]): string[] => numbers.map((number) => sales[number]!.txid);

  test('are in two tabs, newest first, with sums without wash sales', async () => {
    const sold = await page(path(alice, 'sold'));
    expect(shown(sold)).toEqual(nth(5, 4, 3, 2, 0));
    expect(words(sold)).toContain(
      '4 inscriptions sold for 540,000 sats. Wash sales, which no sum includes: 1.',
    );
    expect(sold).toContain('href="/collection/frogs"');
    const bought = await page(path(alice, 'bought'));
    expect(shown(bought)).toEqual(nth(5, 1));
    expect(words(bought)).toContain(
      '1 inscription bought for 90,000 sats. Wash sales, which no sum includes: 1.',
    );
    const none = await page(path(99, 'sold'));
    expect(words(none)).toContain('It sold no inscription.');
    expect(words(await page(path(99, 'bought')))).toContain('It bought no inscription.');
    expect(none).not.toContain('<img src=x');
  });

  test('come in pages, with the number of summed sales', async () => {
    const { pool } = node.database;
    const columns = `gross_payout, price, height, tx_index, key, payout_output, fee_output, rules, class, form,
      confidence, sighash, wash, txid, maker, taker, place, bundle`;
    await pool.query(
      `INSERT INTO chain.sales (${columns}, input)
       SELECT ${columns}, 100 + nth FROM chain.sales, generate_series(1, 2100) AS nth WHERE txid = $1`,
      [Buffer.from(sales[1]!.txid, 'hex').reverse()],
    );
    try {
      const first = await page(path(bob, 'sold'));
      expect(shown(first)).toHaveLength(100);
      expect(words(first)).toContain(
        'The newest 2,000 were sold for 1.8 BTC. Older sales are listed, but not summed.',
      );
      const next = /<a href="([^"]+)" rel="next">/u.exec(first)?.[1]?.replaceAll('&amp;', '&');
      const second = await page(next!);
      expect(shown(second)).toHaveLength(100);
      expect(words(second)).not.toContain('sold for');
      expect(second).toContain(`href="${path(bob, 'sold')}" rel="first"`);
    } finally {
      await pool.query('DELETE FROM chain.sales WHERE input > 100');
    }
  });

  test('leave out deliveries of our own orders', async () => {
    const { pool } = node.database;
    await pool.query(
      'ALTER TABLE service.wallet_transactions DROP CONSTRAINT IF EXISTS wallet_transactions_order_id_fkey',
    );
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, '00000000-0000-4000-8000-000000000000', 'reveal', 0, 0, '\\x', '{"inputs":[]}', 0)`,
      [Buffer.from(sales[4]!.txid, 'hex').reverse()],
    );
    const sold = await page(path(alice, 'sold'));
    await pool.query('DELETE FROM service.wallet_transactions');
    expect(shown(sold)).toEqual(nth(5, 3, 2, 0));
    expect(words(sold)).toContain('3 inscriptions sold for 520,000 sats.');
  });

  test.each(['after=x', 'after=1.2.3', 'after=99999999999.0.0.0'])('refuse the place %s', async (query) => {
    expect(
      (await app.inject({ url: `${path(bob, 'sold')}&${query}`, headers: { accept: 'text/html' } }))
        .statusCode,
    ).toBe(400);
  });

  test('are unknown while their index is built', async () => {
    const { pool } = node.database;
    const { rows } = await pool.query<{ made: string }>(
      `SELECT pg_get_indexdef('chain.sales_taker'::regclass) AS made`,
    );
    await pool.query('DROP INDEX chain.sales_taker');
    try {
      expect(words(await page(path(alice, 'sold')))).toContain(
        'unknown: the index of sales by address is still being built',
      );
    } finally {
      await pool.query(rows[0]!.made);
    }
  });
});

describe('the transfers of an inscription', () => {
  test('have the prices and sellers of sales', async () => {
    const text = await page(`/inscription/${idOfReveal(frogs[0]!)}/transfers?order=desc`);
    const events = text
      .slice(text.indexOf('<ol class="timeline">'), text.indexOf('</ol>'))
      .split('<li>')
      .slice(1);
    expect(events.map((event) => /<b>(.*?)<\/b>/su.exec(event)?.[1])).toEqual([
      `<a href="/sale/${sales[1]!.txid}">Sold for 90,000 sats</a>`,
      `<a href="/sale/${sales[0]!.txid}">Sold for 70,000 sats</a>`,
      'Inscribed',
    ]);
    expect(events[0]).toMatch(new RegExp(`from .*${addressOf(bob)}.* to .*${addressOf(alice)}`, 'su'));
  });
});

describe('a collection', () => {
  test('has its sales of a day, a week, a month and in total, and links to its other pages', async () => {
    const text = await page('/collection/frogs');
    expect(rowsOf(text.slice(text.indexOf('<h2>Sold</h2>'))).slice(1, 5)).toEqual([
      '24 hours | 50,000 sats | 70,000 sats | 2 and 1 wash | 140,000 sats | – |',
      '7 days | 50,000 sats | 70,000 sats | 3 and 1 wash | 210,000 sats | – |',
      '30 days | 50,000 sats | 70,000 sats | 3 and 1 wash | 210,000 sats | – |',
      'all | 50,000 sats | 70,000 sats | 3 and 1 wash | 210,000 sats | – |',
    ]);
    for (const path of ['', '/activity', '/days', '/holders'])
      expect(text).toContain(`<a href="/collection/frogs${path}"`);
    expect(text).not.toContain('<img src=x');
  });

  test('has a page of its sales, one of its days and one of its holders', async () => {
    const activity = rowsOf(await page('/collection/frogs/activity')).slice(1);
    expect(activity.map((row) => row.split('|').slice(0, 2).join('|'))).toEqual([
      expect.stringMatching(/^Frogs #3 \| 10,000 sats wash/u),
      expect.stringMatching(/^Frog 9 \| 50,000 sats/u),
      expect.stringMatching(/^Frog 10 \| 90,000 sats/u),
      expect.stringMatching(/^Frog 10 \| 70,000 sats/u),
    ]);
    const days = await page('/collection/frogs/days');
    expect(rowsOf(days.slice(days.indexOf('<h2>Sales by day'))).slice(1)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d \| 2 \| 140,000 sats \| 50,000 sats \| 70,000 sats \| 1 \|$/u),
      expect.stringMatching(/^\d{4}-\d\d-\d\d \| 1 \| 70,000 sats \| 70,000 sats \| 70,000 sats \| 0 \|$/u),
    ]);
    const holders = await page('/collection/frogs/holders');
    expect(holders).toContain(`href="/address/${addressOf(alice)}"`);
    expect(rowsOf(holders)[1]).toMatch(/^1 \| .* \| 2 \| 66\.7 % \|$/u);
    expect(await page('/collection/frogs/holders?page=2')).toContain('There are no holders on this page.');
  });

  const names = (text: string): (string | undefined)[] =>
    [...text.slice(text.indexOf('id="items"')).matchAll(/<b><bdi>([^<]*)<\/bdi><\/b>/gu)].map(
      ([, name]) => name,
    );

  test.each([
    ['', ['Frog 10', 'Frog 9', 'Frogs #3']],
    ['sort=name', ['Frog 9', 'Frog 10', 'Frogs #3']],
    ['sort=number-desc', ['Frogs #3', 'Frog 9', 'Frog 10']],
    ['sort=price', ['Frogs #3', 'Frog 9', 'Frog 10']],
    ['sort=price-desc', ['Frog 10', 'Frog 9', 'Frogs #3']],
    ['sort=sold', ['Frogs #3', 'Frog 9', 'Frog 10']],
    ['q=frog%201', ['Frog 10']],
    ['q=FROG%20&sort=name', ['Frog 9', 'Frog 10']],
    ['q=%00', []],
    ['page=2', []],
  ])('has its items, sorted and searched by %s', async (query, shown) => {
    expect(names(await page(`/collection/frogs?${query}`))).toEqual(shown);
  });

  test('finds an item by its number and its id', async () => {
    const id = idOfReveal(frogs[1]!);
    expect(names(await page(`/collection/frogs?q=${id}`))).toEqual(['Frog 9']);
    const { rows } = await node.database.pool.query<{ number: number }>(
      'SELECT number FROM chain.inscriptions WHERE txid = $1',
      [Buffer.from(frogs[1]!.txid, 'hex').reverse()],
    );
    expect(names(await page(`/collection/frogs?q=%23${rows[0]!.number}`))).toEqual(['Frog 9']);
  });

  /** The URL of the link with these words. */
  const linkWith = (text: string, words: string): string => {
    const links = [...text.matchAll(/<a class="chip" href="([^"#]*)#items"[^>]*>(.*?)<\/a>/gsu)];
    const found = links.find(([, , shown = '']) => shown.replaceAll(/<[^>]*>/gu, '') === words);
    expect(found, words).toBeDefined();
    return found![1]!.replaceAll('&amp;', '&');
  };

  test('folds its traits by name, the most frequent first, with the number of items of each value', async () => {
    const text = await page('/collection/frogs');
    const folds = [...text.matchAll(/<details class="filters" ><summary>(.*?)<\/details>/gsu)];
    expect(
      folds.map(([, fold = '']) =>
        fold
          .replaceAll(/<[^>]*>/gu, ' ')
          .replaceAll(/\s+/gu, ' ')
          .trim(),
      ),
    ).toEqual([
      'Skin 2 values Green &nbsp; 2 Red &nbsp; 1',
      'Eyes, both 1 value a:b\\c &nbsp; 2',
      'Hat 1 value &lt;b&gt;&amp;&quot;\u0301 &nbsp; 1',
    ]);
    expect(text).not.toContain('<b>&');
    expect(await page('/collection/toads')).not.toContain('aria-label="Traits"');
  });

  test('shows the items with all requested traits, and keeps search, order and pages', async () => {
    const green = await page(linkWith(await page('/collection/frogs?sort=name'), 'Green&nbsp;2'));
    expect(names(green)).toEqual(['Frog 9', 'Frog 10']);
    expect(green).toContain('2 of 3');
    expect(green).not.toContain('<h2>Sold</h2>');
    expect(green).toContain('<input type="hidden" name="trait" value="Skin:Green">');

    const both = await page(linkWith(green, 'a:b\\c&nbsp;2'));
    expect(names(both)).toEqual(['Frog 10']);
    const red = await page(linkWith(both, 'Red&nbsp;1'));
    expect(names(red)).toEqual(['Frogs #3']);
    const eyes = await page(linkWith(red, 'Skin: Red ×'));
    expect(names(eyes)).toEqual(['Frog 10', 'Frogs #3']);
    expect(linkWith(eyes, 'Eyes, both: a:b\\c ×')).toBe('/collection/frogs?sort=name');
  });

  test.each([
    ['trait=Skin:Green', ['Frog 10', 'Frog 9']],
    ['trait=Skin:Green&q=10', ['Frog 10']],
    ['trait=Skin:Green&sort=price', ['Frog 9', 'Frog 10']],
    ['trait=Skin:Green&page=2', []],
    ['trait=Skin:Green,Skin:Red', []],
    ['trait=Skin:green', []],
    ['trait=Skin:', []],
    ['trait=Skin:%00', []],
    ['trait=', ['Frog 10', 'Frog 9', 'Frogs #3']],
  ])('finds items by %s', async (query, shown) => {
    expect(names(await page(`/collection/frogs?${query}`))).toEqual(shown);
  });

  test.each(['Skin', ':Green', 'Skin:Green,', 'a:b,'.repeat(8) + 'a:b', `a:${'b'.repeat(4_000)}`])(
    'refuses the traits %s',
    async (trait) => {
      const url = `/collection/frogs?trait=${encodeURIComponent(trait)}`;
      expect((await app.inject({ url, headers: { accept: 'text/html' } })).statusCode).toBe(400);
    },
  );

  test('of the chain is sorted and searched too', async () => {
    const parent = await inscribed(node.chain, { body: 'a parent' }, { to: alice });
    const child = await inscribed(
      node.chain,
      { body: 'a child', parents: [idOfReveal(parent)] },
      { parents: [parent.coin(0)], to: bob },
    );
    await node.atTip();
    await setTimes();
    const path = `/collection/${idOfReveal(parent)}`;
    for (const query of ['', '?sort=number', '?sort=sold', '?sort=name', `?q=${idOfReveal(child)}`])
      expect(names(await page(`${path}${query}`))).toEqual([expect.stringMatching(/^Inscription \d+$/u)]);
    expect(await page(`${path}?q=none`)).toContain('No item matches.');
    expect(await page(`${path}?trait=Skin:Green`)).toContain('No item matches.');
    expect(await page(path)).toContain('aria-label="Items"');

    // this is one more than the maximum for sorting
    const { pool } = node.database;
    await pool.query('UPDATE chain.parent_children SET children = 100001');
    const long = await page(`${path}?q=none&sort=name`);
    await pool.query('UPDATE chain.parent_children SET children = 1');
    expect(long).toContain('too long to be searched or sorted');
    expect(long).not.toContain('aria-label="Items"');
    expect(names(long)).toEqual([expect.stringMatching(/^Inscription \d+$/u)]);
  });

  test.each(['activity', 'days', 'holders'])('of an unknown slug has no page of its %s', async (path) => {
    expect((await app.inject(`/collection/none/${path}`)).statusCode).toBe(404);
    expect((await app.inject(`/collection/frogs/${path}?page=0`)).statusCode).toBe(400);
  });
});
