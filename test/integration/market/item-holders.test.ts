import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import { holdersIn, readItemHolders } from '#market/lists/item-holders.store.ts';
import { idOf, insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { importItems } from '#test/support/market/market-app.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const blocks = 6;
const itemsABlock = 2;
const count = blocks * itemsABlock;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await insertChain(
    database.pool,
    Array.from({ length: blocks }, (_, height) => ({
      height,
      rows: Array.from({ length: itemsABlock }, (__, nth) => ({ name: `item ${height} ${nth}` })),
    })),
  );
  // the last item is not on the list
  const ids = Array.from({ length: count - 1 }, (_, key): [string, null] => [
    idOf(`item ${Math.floor(key / itemsABlock)} ${key % itemsABlock}`),
    null,
  ]);
  await importItems(database, { slug: 'frogs' }, ids);
});
afterAll(() => database.drop());

type Standing = 'burned' | 'lost' | 'unbound' | 'unknown';
/** The number of a holder, or another state of an item. */
type Where = number | Standing;
interface Move {
  readonly key: number;
  readonly height: number;
  readonly to: Where;
}

const revealOf = (key: number): number => Math.floor(key / itemsABlock);
const scriptOf = (holder: number): Buffer =>
  Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, holder)]);
const burnScript = Buffer.from([0x6a, 1, 1]);

const holder = fc.nat({ max: 3 });
const reveals = fc.array(fc.oneof(holder, fc.constant('unbound' as const)), {
  minLength: count,
  maxLength: count,
});
const moves = fc.array(
  fc.record({
    key: fc.nat({ max: count - 1 }),
    height: fc.nat({ max: blocks - 1 }),
    to: fc.oneof({ weight: 4, arbitrary: holder }, fc.constantFrom<Standing>('burned', 'lost', 'unknown')),
  }),
  { maxLength: 40 },
);

/**
 * Everything that happens to each item, in order. An item that is burned, lost, bound to no sat or unknown moves no
 * more.
 */
function histories(first: readonly Where[], random: readonly Move[]): Move[][] {
  const sorted = random.toSorted((one, other) => one.height - other.height);
  return first.map((to, key) => {
    const history: Move[] = [{ key, height: revealOf(key), to }];
    for (const move of sorted) {
      const isHeld = typeof history.at(-1)?.to === 'number';
      if (move.key === key && move.height >= revealOf(key) && isHeld) history.push(move);
    }
    return history;
  });
}

async function store(all: readonly Move[][]): Promise<void> {
  const rows = all.flatMap((history) =>
    history.flatMap(({ key, height, to }, step) =>
      // an unknown move only ends the location before the move
      to === 'unknown' ? [] : [{ key, height, step, to, spent: history[step + 1]?.height ?? null }],
    ),
  );
  await database.pool.query('TRUNCATE chain.locations');
  await database.pool.query(
    `INSERT INTO chain.locations (key, height, step, place, vout, sat_offset, value, script, spent_height)
     SELECT key, height, step, place, CASE place WHEN 0 THEN 0 END, 0, CASE place WHEN 0 THEN 546 END, script, spent
     FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::smallint[], $5::bytea[], $6::integer[])
       AS given(key, height, step, place, script, spent)`,
    [
      rows.map(({ key }) => key),
      rows.map(({ height }) => height),
      rows.map(({ step }) => step),
      rows.map(({ to }) => ({ lost: 1, unbound: 2 })[to as string] ?? 0),
      rows.map(({ to }) => (typeof to === 'number' ? scriptOf(to) : to === 'burned' ? burnScript : null)),
      rows.map(({ spent }) => spent),
    ],
  );
}

/** The same result, computed from the histories alone. */
function naiveHolders(all: readonly Move[][], height: number): unknown {
  const listed = all.slice(0, count - 1).filter((_, key) => revealOf(key) <= height);
  const places = listed.map((history) => history.filter((move) => move.height <= height).at(-1)!.to);
  const items = (where: Where): number => places.filter((place) => place === where).length;
  const held = places.filter((place) => typeof place === 'number');
  const holders = [...new Set(held)]
    .map((number) => ({ items: items(number), script: scriptOf(number).toString('hex') }))
    .toSorted((one, other) => other.items - one.items || (one.script < other.script ? -1 : 1));
  return {
    indexed: places.length,
    held: held.length,
    burned: items('burned'),
    lost: items('lost'),
    unbound: items('unbound'),
    unknown: items('unknown'),
    count: holders.length,
    holders,
  };
}

test('holders after each block are those that the moves up to it lead to', async () => {
  const client = await database.readers.connect();
  onTestFinished(() => client.release(true));
  const collection = await findMarketCollection(client, 'frogs');
  await fc.assert(
    fc.asyncProperty(reveals, moves, async (first, random) => {
      const all = histories(first, random);
      await store(all);
      for (let height = 0; height < blocks; height++) {
        await client.query('BEGIN');
        const moment = { height: asHeight(height), nextKey: (height + 1) * itemsABlock };
        const { packed, ...counts } = await readItemHolders(client, collection!, moment);
        await client.query('ROLLBACK');
        const holders = holdersIn(packed, 0, count).map(({ items, script }) => ({
          items,
          script: Buffer.from(script).toString('hex'),
        }));
        expect({ height, ...counts, holders }).toEqual({ height, ...(naiveHolders(all, height) as object) });
      }
    }),
    { numRuns: propertyRuns(40) },
  );
});
