import { Encoder } from 'cbor-x';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { idBytes } from '#test/builders/regtest/regtest-envelope.ts';
import {
  addressOf,
  burnScript,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const alice = 11;
const bob = 12;
const carol = 13;
const unknownId = `${'ab'.repeat(32)}i0`;

let node: IndexedNode;
let purse: Purse;
let app: ReturnType<typeof buildCheckedApp>;
const cbor = new Encoder({ mapsAsObjects: false, useRecords: false });

type Body = Readonly<Record<string, unknown>>;

beforeAll(async () => {
  node = await startIndexedNode();
  purse = new Purse(node.chain);
  await node.atTip();
  app = await marketApp(node.database);
});
afterAll(async () => {
  await app.close();
  await node.close();
});

async function get(url: string): Promise<{ status: number; body: Body }> {
  const answer = await app.inject(`/marketplace/data/collections${url}`);
  return { status: answer.statusCode, body: answer.json<Body>() };
}
async function found(url: string): Promise<Body> {
  const { status, body } = await get(url);
  expect([url, status]).toEqual([url, 200]);
  return body;
}
const item = (): Promise<RegtestTransaction> => inscribed(node.chain, { body: 'an item' }, { to: alice });
const imported = (
  slug: string,
  items: readonly (readonly [string, string | null])[],
  name = 'Frogs',
  digest = slug,
): Promise<void> => importItems(node.database, { slug, name }, items, digest);
/** An inscription with a gallery of ids. */
function galleryOf(ids: readonly string[], title: string): Promise<RegtestTransaction> {
  const properties = cbor.encode(
    new Map<number, unknown>([
      [0, ids.map((id) => new Map([[0, idBytes(id)]]))],
      [1, new Map([[0, title]])],
    ]),
  );
  // a push has at most 520 bytes
  const fields: [number, Uint8Array][] = [];
  for (let at = 0; at < properties.length; at += 520) fields.push([17, properties.subarray(at, at + 520)]);
  return inscribed(node.chain, { body: 'a gallery', fields }, { to: alice });
}
const holder = (owner: number, items: number, of: number): Body => ({
  address: addressOf(owner),
  script: Buffer.from(scriptOf(owner)).toString('hex'),
  items,
  share: items / of,
});
const blockAt = (height: number): Promise<string> => node.bitcoind.rpc.call<string>('getblockhash', [height]);
const tipHeight = (): Promise<number> => node.bitcoind.rpc.call<number>('getblockcount');

describe('the list of collections', () => {
  const slugsOf = async (query: string): Promise<unknown[]> =>
    ((await found(query))['collections'] as Body[]).map(({ slug }) => slug);

  test('has imports by their sales of a week, without wash sales, and finds them by name and slug', async () => {
    const [sold, washed, other] = [await item(), await item(), await item()];
    await imported('list-quiet', [[unknownId, null]], 'Quiet Ölfrösche');
    await imported('list-loud', [
      [idOfReveal(sold), null],
      [idOfReveal(washed), null],
    ]);
    await imported('list-less', [[idOfReveal(other), null]]);
    await node.chain.mine([
      await purse.purchase(sold.coin(0), bob, 70_000),
      await purse.purchase(washed.coin(0), alice, 90_000),
      await purse.purchase(other.coin(0), carol, 60_000),
    ]);
    await node.atTip();
    const { collections, height, nextPage } = await found('?q=list-');
    expect(height).toBe(await tipHeight());
    expect(nextPage).toBe(null);
    expect(collections).toEqual([
      {
        slug: 'list-loud',
        kind: 'import',
        name: 'Frogs',
        icon: null,
        items: 2,
        week: { sales: 1, volume: 70_000, wash: { sales: 1, volume: 90_000 } },
      },
      expect.objectContaining({
        slug: 'list-less',
        week: { sales: 1, volume: 60_000, wash: { sales: 0, volume: 0 } },
      }),
      expect.objectContaining({
        slug: 'list-quiet',
        week: { sales: 0, volume: 0, wash: { sales: 0, volume: 0 } },
      }),
    ]);
    expect(await slugsOf('?q=LIST-&sort=slug')).toEqual(['list-less', 'list-loud', 'list-quiet']);
    expect(await slugsOf('?q=quiet')).toEqual(['list-quiet']);
    for (const nothing of ['list-%25', 'list_', '%00', 'none'])
      expect(await slugsOf(`?q=${nothing}`)).toEqual([]);
  });

  test('leaves out sales older than a week, and comes in pages', async () => {
    const sold = await item();
    await imported('aged', [[idOfReveal(sold), null]]);
    await node.chain.mine([await purse.purchase(sold.coin(0), bob, 50_000)]);
    await node.atTip();
    const { pool } = node.database;
    const week = async (): Promise<unknown> =>
      ((await found('?q=aged'))['collections'] as Body[])[0]!['week'];
    expect(await week()).toMatchObject({ sales: 1 });
    await pool.query('UPDATE chain.blocks SET time = time - 864000 WHERE height <= $1', [await tipHeight()]);
    await node.chain.mine();
    await node.atTip();
    // the sums of a block are stored, because no block ever changes its time
    const fresh = await marketApp(node.database);
    const { collections } = (await fresh.inject('/marketplace/data/collections?q=aged')).json<Body>();
    expect((collections as Body[])[0]!['week']).toMatchObject({ sales: 0, volume: 0 });
    await fresh.close();
    await pool.query('UPDATE chain.blocks SET time = time + 864000 WHERE height < $1', [await tipHeight()]);
    for (let nth = 0; nth < 45; nth++)
      await imported(`many-${String(nth).padStart(2, '0')}`, [[unknownId, null]]);
    const pages: unknown[] = [];
    for (let page: number | null = 0; page !== null; ) {
      const { collections, nextPage }: Body = await found(`?q=many-&limit=20&sort=slug&page=${page}`);
      pages.push((collections as Body[]).map(({ slug }) => slug));
      page = nextPage as number | null;
    }
    expect(pages.map((slugs) => (slugs as unknown[]).length)).toEqual([20, 20, 5]);
    expect(pages.flat()).toEqual(
      Array.from({ length: 45 }, (_, nth) => `many-${String(nth).padStart(2, '0')}`),
    );
    expect(await found('?q=many-&page=1000000000')).toMatchObject({ collections: [], nextPage: null });
  });

  test('has a parent or a gallery if it is named by its id, with a visible title', async () => {
    const child = await item();
    const gallery = await galleryOf([idOfReveal(child), idOfReveal(child)], 'Pond');
    const hostile = await galleryOf([idOfReveal(child)], '<img src=x>\u202egnp');
    await node.atTip();
    expect((await found(`?q=${idOfReveal(gallery).toUpperCase().replace('I', 'i')}`))['collections']).toEqual(
      [
        {
          slug: idOfReveal(gallery),
          kind: 'gallery',
          name: 'Pond',
          icon: idOfReveal(gallery),
          items: 2,
          week: null,
        },
      ],
    );
    expect((await found(`?q=${idOfReveal(hostile)}`))['collections']).toEqual([
      expect.objectContaining({ name: expect.stringMatching(/^Inscription \d+$/u) as string }),
    ]);
    expect(await slugsOf(`?q=${idOfReveal(child)}`)).toEqual([]);
    expect(await slugsOf(`?q=${unknownId}`)).toEqual([]);
  });
});

describe('the statistics of a collection', () => {
  test('count items, holders and sales, with the volume of each day', async () => {
    const [first, second, third] = [await item(), await item(), await item()];
    await importItems(
      node.database,
      { slug: 'stats', name: 'Stats', icon: parseInscriptionId(unknownId), website: 'https://example.com/' },
      [
        [idOfReveal(first), 'Green frog'],
        [unknownId, null],
        [idOfReveal(second), null],
        [idOfReveal(third), null],
      ],
    );
    const toBob = await purse.purchase(first.coin(0), bob, 70_000);
    const toCarol = await purse.purchase(second.coin(0), carol, 50_000);
    const { hash } = await node.chain.mine([toBob, toCarol]);
    const washed = await purse.purchase({ ...toBob.coin(1), owner: bob }, bob, 99_000);
    await node.chain.mine([washed]);
    await node.atTip();
    const header = await node.bitcoind.rpc.call<{ time: number; height: number }>('getblockheader', [hash]);
    const stats = await found('/stats/stats');
    const height = await tipHeight();
    expect(stats).toEqual({
      slug: 'stats',
      kind: 'import',
      name: 'Stats',
      icon: unknownId,
      description: null,
      website: 'https://example.com/',
      twitter: null,
      discord: null,
      height,
      blockHash: await blockAt(height),
      items: { listed: 4, indexed: 3, held: 3, burned: 0, lost: 0, unbound: 0, unknown: 0 },
      holders: 3,
      sales: {
        countedFrom: 0,
        total: { sales: 2, volume: 120_000, wash: { sales: 1, volume: 99_000 } },
        last: {
          inscriptionId: idOfReveal(first),
          inscriptionName: 'Green frog',
          price: 99_000,
          txid: washed.txid,
          height: header.height + 1,
          timestamp: expect.any(Number) as number,
          wash: true,
        },
        days: expect.any(Array) as unknown[],
        pending: null,
      },
    });
    const { days } = stats['sales'] as { days: Body[] };
    expect(days[0]).toMatchObject({ day: new Date(header.time * 1000).toISOString().slice(0, 10) });
    expect(days.map(({ volume }) => volume).reduce<number>((sum, one) => sum + Number(one), 0)).toBe(120_000);
    // move the block to another day; its time is then before the time of the previous blocks
    await node.database.pool.query('UPDATE chain.blocks SET time = time - 864000 WHERE height = $1', [
      header.height + 1,
    ]);
    await imported('stats-again', [[idOfReveal(first), null]]);
    const again = (await found('/stats-again/stats'))['sales'] as { days: Body[] };
    expect(again.days).toMatchObject([
      { sales: 0, volume: 0, wash: { sales: 1, volume: 99_000 } },
      { sales: 1, volume: 70_000, wash: { sales: 0, volume: 0 } },
    ]);
    await node.database.pool.query('UPDATE chain.blocks SET time = time + 864000 WHERE height = $1', [
      header.height + 1,
    ]);
  });

  test('of a collection without a sale or an indexed item are zeros', async () => {
    await imported('nothing', [[unknownId, null]]);
    expect(await found('/nothing/stats')).toMatchObject({
      items: { listed: 1, indexed: 0, held: 0 },
      holders: 0,
      sales: { total: { sales: 0, volume: 0 }, last: null, days: [] },
    });
  });
});

describe('the holders of a collection', () => {
  test('are those of the tip, or of an earlier block, which is named by its hash', async () => {
    const items = [await item(), await item()];
    const earlier = await tipHeight();
    items.push(await item());
    await imported(
      'held',
      items.map((made) => [idOfReveal(made), null]),
    );
    const toBob = await purse.purchase(items[0]!.coin(0), bob, 50_000);
    const instead = await purse.purchase(items[0]!.coin(0), carol, 60_000);
    await node.atTip();
    const before = await tipHeight();
    const { hash } = await node.chain.mine([toBob]);
    await node.atTip();
    const now = {
      slug: 'held',
      height: before + 1,
      blockHash: hash,
      proven: true,
      items: { listed: 3, indexed: 3, held: 3, burned: 0, lost: 0, unbound: 0, unknown: 0 },
      count: 2,
      holders: [holder(alice, 2, 3), holder(bob, 1, 3)],
      nextPage: null,
    };
    const then = {
      ...now,
      height: before,
      blockHash: await blockAt(before),
      count: 1,
      holders: [holder(alice, 3, 3)],
    };
    expect(await found('/held/holders')).toEqual(now);
    expect(await found(`/held/holders?at=${before + 1}`)).toEqual(now);
    expect(await found(`/held/holders?at=${before}`)).toEqual(then);
    // the last item did not exist yet
    expect(await found(`/held/holders?at=${earlier}`)).toMatchObject({
      items: { listed: 3, indexed: 2 },
      holders: [holder(alice, 2, 2)],
    });
    expect(await found('/held/holders?at=0')).toMatchObject({ count: 0, holders: [], items: { indexed: 0 } });
    // after a reorganisation the item has another buyer; earlier responses stay the same, and the hash shows the
    // difference
    await node.bitcoind.rpc.call('invalidateblock', [hash]);
    await node.chain.mine([instead]);
    await node.chain.mine();
    await node.atTip();
    const after = await found('/held/holders');
    expect(after['holders']).toEqual([holder(alice, 2, 3), holder(carol, 1, 3)]);
    expect(await found(`/held/holders?at=${before}`)).toEqual(then);
    const moved = await found(`/held/holders?at=${before + 1}`);
    expect(moved['blockHash']).not.toBe(hash);
    expect(moved['holders']).toEqual(after['holders']);
  });

  test('do not hold burned items', async () => {
    const [kept, burned] = [await item(), await item()];
    await imported('burned', [
      [idOfReveal(kept), null],
      [idOfReveal(burned), null],
    ]);
    await node.chain.mine([transaction([burned.coin(0)], [{ value: 1_000, outputScript: burnScript }])]);
    await node.atTip();
    expect(await found('/burned/holders')).toMatchObject({
      items: { indexed: 2, held: 1, burned: 1 },
      count: 1,
      holders: [holder(alice, 1, 2)],
    });
  });

  test('come in pages of one moment, for all kinds of collections', async () => {
    const parent = await inscribed(node.chain, { body: 'a parent' }, { to: alice });
    const child = await inscribed(
      node.chain,
      { body: 'a child', parents: [idOfReveal(parent)] },
      { parents: [parent.coin(0)], to: bob },
    );
    const gallery = await galleryOf([idOfReveal(child), idOfReveal(parent), idOfReveal(child)], 'Both');
    const items: [string, null][] = [];
    for (let nth = 0; nth < 22; nth++) {
      const made = await inscribed(node.chain, { body: `of ${nth}` }, { to: 200 + nth });
      items.push([idOfReveal(made), null]);
    }
    await imported('spread', items);
    await node.atTip();
    const height = await tipHeight();
    const first = await found(`/spread/holders?at=${height}&limit=20`);
    await node.chain.mine();
    await node.atTip();
    const second = await found(`/spread/holders?at=${height}&limit=20&page=1`);
    expect([first['nextPage'], second['nextPage'], second['count']]).toEqual([1, null, 22]);
    const scripts = [first, second].flatMap(({ holders }) => (holders as Body[]).map(({ script }) => script));
    const expected = Array.from({ length: 22 }, (_, nth) => Buffer.from(scriptOf(200 + nth)).toString('hex'));
    expect(scripts).toEqual(expected.toSorted());
    expect(await found('/spread/holders?page=1000000000')).toMatchObject({ holders: [], nextPage: null });
    expect(await found(`/${idOfReveal(parent)}/holders`)).toMatchObject({ count: 1, items: { indexed: 1 } });
    expect(await found(`/${idOfReveal(gallery)}/holders`)).toMatchObject({
      items: { listed: 3, indexed: 2 },
    });
  });
});

describe('the items of a collection', () => {
  test('of an import are in the order of its list, with owner and last sale', async () => {
    const [sold, kept] = [await item(), await item()];
    await imported('items', [
      [idOfReveal(sold), 'Sold'],
      [unknownId, 'To come'],
      [idOfReveal(kept), null],
    ]);
    const toBob = await purse.purchase(sold.coin(0), bob, 50_000);
    const toCarol = await purse.purchase({ ...toBob.coin(1), owner: bob }, carol, 60_000);
    await node.chain.mine([toBob, toCarol]);
    await node.atTip();
    const height = await tipHeight();
    expect(await found('/items/items')).toEqual({
      slug: 'items',
      height,
      items: [
        {
          inscriptionId: idOfReveal(sold),
          name: 'Sold',
          number: expect.any(Number) as number,
          indexed: true,
          satpoint: `${toCarol.txid}:1:0`,
          address: addressOf(carol),
          script: Buffer.from(scriptOf(carol)).toString('hex'),
          lastSale: {
            price: 60_000,
            txid: toCarol.txid,
            height,
            timestamp: expect.any(Number) as number,
            wash: false,
          },
        },
        {
          inscriptionId: unknownId,
          name: 'To come',
          number: null,
          indexed: false,
          satpoint: null,
          address: null,
          script: null,
          lastSale: null,
        },
        expect.objectContaining({ inscriptionId: idOfReveal(kept), name: 'Frogs #3', lastSale: null }),
      ],
      nextAfter: null,
    });
  });

  test('come in pages, each item once, for imports, parents and galleries', async () => {
    const parent = await inscribed(node.chain, { body: 'a parent' }, { to: alice });
    let coin = parent.coin(0);
    const children: string[] = [];
    for (let nth = 0; nth < 23; nth++) {
      const child = await inscribed(
        node.chain,
        { body: `child ${nth}`, parents: [idOfReveal(parent)] },
        { parents: [coin], to: alice },
      );
      coin = child.coin(0);
      children.push(idOfReveal(child));
    }
    const gallery = await galleryOf([...children.toReversed(), children[0]!, unknownId], 'Doubles');
    await imported(
      'paged',
      [unknownId, ...children].map((id) => [id, null]),
    );
    await node.atTip();
    const all = async (slug: string): Promise<unknown[]> => {
      const ids: unknown[] = [];
      for (let after = ''; ; ) {
        const { items, nextAfter } = await found(`/${slug}/items?limit=20${after}`);
        ids.push(...(items as Body[]).map(({ inscriptionId }) => inscriptionId));
        if (nextAfter === null) return ids;
        after = `&after=${nextAfter as string}`;
      }
    };
    expect(await all('paged')).toEqual([unknownId, ...children]);
    expect(await all(idOfReveal(parent))).toEqual(children);
    expect(await all(idOfReveal(gallery))).toEqual(children);
    expect(await get(`/paged/items?after=${idOfReveal(gallery)}`)).toEqual({
      status: 400,
      body: {
        errors: [{ msg: 'after is not an item of this collection', param: 'after', location: 'query' }],
        code: 'request_invalid',
      },
    });
  });
});

describe('items before the index of their last sales is built', () => {
  test('are 503, because each would need a search of all sales', async () => {
    const { pool } = node.database;
    const one = await item();
    await imported('unsought', [[idOfReveal(one), null]]);
    await node.atTip();
    const { rows } = await pool.query<{ made: string }>(
      `SELECT pg_get_indexdef('chain.sales_key'::regclass) AS made`,
    );
    await pool.query('DROP INDEX chain.sales_key');
    try {
      expect((await get('/unsought/items')).status).toBe(503);
    } finally {
      await pool.query(rows[0]!.made);
    }
    expect(await found('/unsought/items')).toMatchObject({ items: [{ lastSale: null }] });
  });
});

describe('the collections of an inscription', () => {
  test('are imports by slug, then parents, then galleries', async () => {
    const parent = await inscribed(node.chain, { body: 'a parent' }, { to: alice });
    const child = await inscribed(
      node.chain,
      { body: 'a child', parents: [idOfReveal(parent)] },
      { parents: [parent.coin(0)], to: alice },
    );
    const id = idOfReveal(child);
    const galleries = [await galleryOf([id, id], 'First'), await galleryOf([id], '<b>Second</b>')];
    await imported('zoo', [[id, null]], 'Zoo');
    await imported('ark', [[id, null]], 'Ark');
    await node.atTip();
    expect(await found(`/of/${id}`)).toEqual({
      inscriptionId: id,
      collections: [
        { slug: 'ark', kind: 'import', name: 'Ark' },
        { slug: 'zoo', kind: 'import', name: 'Zoo' },
        {
          slug: idOfReveal(parent),
          kind: 'parent',
          name: expect.stringMatching(/^Inscription \d+$/u) as string,
        },
        { slug: idOfReveal(galleries[0]!), kind: 'gallery', name: 'First' },
        {
          slug: idOfReveal(galleries[1]!),
          kind: 'gallery',
          name: expect.stringMatching(/^Inscription \d+$/u) as string,
        },
      ],
    });
    expect(await found(`/of/${'cd'.repeat(32)}i0`)).toMatchObject({ collections: [] });
  });
});
