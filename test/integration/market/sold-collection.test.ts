import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { removeCollection, replaceCollection } from '#market/collections/collection.store.ts';
import {
  addSoldItems,
  openSoldCollection,
  removeSoldItems,
  type SoldItem,
  soldSlugProblem,
} from '#market/collections/sold-collection.store.ts';
import { importSlug } from '#market/imports/import-slug.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const open = (slug: string, given: object = {}): Promise<boolean> =>
  withTransaction(database.pool, (tx) =>
    openSoldCollection(tx, {
      slug,
      name: 'Ponds',
      description: null,
      website: null,
      twitter: null,
      discord: null,
      ...given,
    }),
  );
const item = (number: number): SoldItem => ({
  id: { txid: asTxid(Buffer.alloc(32, number)), index: 0 },
  name: `Pond #${number}`,
});
const add = (slug: string, ...numbers: number[]): Promise<void> =>
  withTransaction(database.pool, (tx) => addSoldItems(tx, slug, numbers.map(item)));
const remove = (slug: string, ...numbers: number[]): Promise<void> =>
  withTransaction(database.pool, (tx) =>
    removeSoldItems(
      tx,
      slug,
      numbers.map((number) => item(number).id),
    ),
  );
/** Adds inscriptions to the index, by their keys. */
async function index(keys: Readonly<Record<number, number>>): Promise<void> {
  for (const [number, key] of Object.entries(keys))
    await database.pool.query(
      `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid) VALUES ($1, 0, 0, 0, 0, 0, $2)`,
      [key, Buffer.alloc(32, Number(number))],
    );
}

async function shown(slug: string): Promise<{ names: string[]; places: number[]; items: number }> {
  const { rows } = await database.pool.query<{ name: string; place: number }>(
    'SELECT name, place FROM service.market_items WHERE slug = $1 ORDER BY place',
    [slug],
  );
  const counted = await database.pool.query<{ items: number }>(
    'SELECT items FROM service.market_collections WHERE slug = $1',
    [slug],
  );
  return {
    names: rows.map(({ name }) => name),
    places: rows.map(({ place }) => place),
    items: counted.rows[0]!.items,
  };
}

const ponds = (...numbers: number[]) => ({
  names: numbers.map((number) => `Pond #${number}`),
  places: numbers.map((_, place) => place),
  items: numbers.length,
});

test('items are in the order of their inscriptions, each once, however they come and go', async () => {
  await open('ordered');
  await index({ 1: 10, 2: 20, 3: 30, 4: 40, 5: 50 });
  await add('ordered', 2, 4);
  expect(await shown('ordered')).toEqual(ponds(2, 4));
  // inscription 9 is not indexed yet
  await add('ordered', 9, 3, 1);
  expect(await shown('ordered')).toEqual(ponds(1, 2, 3, 4, 9));
  await add('ordered', 3, 5);
  expect(await shown('ordered')).toEqual(ponds(1, 2, 3, 4, 5, 9));
  await remove('ordered', 2, 9, 7);
  expect(await shown('ordered')).toEqual(ponds(1, 3, 4, 5));
  await add('ordered', 2);
  expect(await shown('ordered')).toEqual(ponds(1, 2, 3, 4, 5));
  await remove('ordered', 1, 2, 3, 4, 5);
  expect(await shown('ordered')).toEqual(ponds());
});

test('its icon is the first item that was delivered', async () => {
  const icon = async (): Promise<unknown> => {
    const { rows } = await database.pool.query<{ icon: number | null }>(
      `SELECT get_byte(icon_txid, 0) AS icon FROM service.market_collections WHERE slug = 'icons'`,
    );
    return rows[0]!.icon;
  };
  await open('icons');
  expect(await icon()).toBeNull();
  await index({ 61: 610, 62: 620 });
  await add('icons', 62);
  expect(await icon()).toBe(62);
  await add('icons', 61);
  expect(await icon()).toBe(61);
  await remove('icons', 61);
  expect(await icon()).toBe(62);
  await remove('icons', 62);
  expect(await icon()).toBeNull();
});

test('each change gives another revision, and what changes nothing does not', async () => {
  await open('revised');
  const revision = async (): Promise<string> =>
    (
      await database.pool.query<{ revision: string }>(
        `SELECT revision::text FROM service.market_collections WHERE slug = 'revised'`,
      )
    ).rows[0]!.revision;
  const before = await revision();
  await add('revised', 1);
  const after = await revision();
  expect(after).not.toBe(before);
  await add('revised', 1);
  await remove('revised', 2);
  expect(await revision()).toBe(after);
});

test('texts that the market cannot show are left out', async () => {
  await open('texts', {
    name: 'Texts\u202e',
    description: 'Many\nlines',
    website: 'javascript:alert(1)',
    twitter: '@pond_frogs',
    discord: 'https://discord.gg/ponds',
  });
  const { rows } = await database.pool.query(
    `SELECT name, description, website, twitter, discord FROM service.market_collections WHERE slug = 'texts'`,
  );
  expect(rows).toEqual([
    {
      name: 'texts',
      description: 'Many\nlines',
      website: null,
      twitter: 'https://x.com/pond_frogs',
      discord: 'https://discord.gg/ponds',
    },
  ]);
});

test('a slug is sold once, and neither imported over nor forgotten', async () => {
  expect(await soldSlugProblem(database.pool, 'taken')).toBeNull();
  expect(await open('taken')).toBe(true);
  expect(await open('taken')).toBe(false);
  expect(await soldSlugProblem(database.pool, 'taken')).toBe(
    'is already the slug of a collection of the market',
  );
  for (const slug of ['of', '../x', `${'ab'.repeat(32)}i0`])
    expect(await soldSlugProblem(database.pool, slug)).toContain('neither "of" nor the id');
  await expect(removeCollection(database.pool, 'taken')).rejects.toMatchObject({ code: 'collection_sold' });
  await expect(removeCollection(database.pool, 'unknown')).rejects.toMatchObject({
    code: 'collection_unknown',
  });
  expect(importSlug('Satscribe mint taken')).toBeNull();
});

test('the list of others with the same slug gets another one', async () => {
  await open('twins');
  const { slug, result } = await withTransaction(database.pool, (tx) =>
    replaceCollection(
      tx,
      {
        slug: 'twins',
        name: 'Twins',
        description: null,
        icon: null,
        website: null,
        twitter: null,
        discord: null,
      },
      [{ id: item(1).id, name: null, traits: [] }],
      Buffer.alloc(32),
    ),
  );
  expect([slug, result]).toEqual(['twins-2', 'added']);
  expect((await shown('twins')).items).toBe(0);
});
