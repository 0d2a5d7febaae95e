import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InscriptionFilter } from '#chain/inscriptions/inscription-filter.ts';
import { type ListQuestion, listInscriptions } from '#chain/inscriptions/inscription-list.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import {
  jubileeHeight,
  type ListedRow,
  listedRow,
  ownerScript,
  writeListedRows,
} from '#test/support/chain/rows/listed-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const shape = { count: 24_000, perBlock: 40 };
const rows = Array.from({ length: shape.count }, (_, key) => listedRow(key, shape));
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const parentOf = (key: number): InscriptionId => ({ txid: asTxid(sha256(`tx ${key}`)), index: 0 });
const delegateOf = (name: number): InscriptionId => ({
  txid: asTxid(sha256(`delegate ${name}`)),
  index: 0,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await writeListedRows(database.pool, shape);
});
afterAll(() => database.drop());

/** A filter with numbers, where a query has bytes. */
interface PlainFilter {
  readonly contentType?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly cursed?: boolean | undefined;
  readonly metaprotocol?: string | undefined;
  readonly owner?: number | undefined;
  readonly parent?: number | undefined;
  readonly delegate?: number | undefined;
}

function filterOf({ owner, parent, delegate, from, to, ...others }: PlainFilter): InscriptionFilter {
  return {
    ...others,
    ...(from === undefined ? {} : { from: asHeight(from) }),
    ...(to === undefined ? {} : { to: asHeight(to) }),
    ...(owner === undefined ? {} : { owner: ownerScript(owner) }),
    ...(parent === undefined ? {} : { parent: parentOf(parent) }),
    ...(delegate === undefined ? {} : { delegate: delegateOf(delegate) }),
  };
}

function cursedOf({ number: ordsNumber, height, curse }: ListedRow): boolean | null {
  if (ordsNumber !== null) return ordsNumber < 0;
  if (height >= jubileeHeight) return false;
  return curse === null ? null : curse > 0;
}

function meets(row: ListedRow, filter: PlainFilter): boolean {
  const { contentType, from, to, cursed } = filter;
  if (contentType !== undefined) {
    if (
      contentType.endsWith('/*')
        ? row.type?.startsWith(contentType.slice(0, -1)) !== true
        : row.type !== contentType
    )
      return false;
  }
  if (from !== undefined && row.height < from) return false;
  if (to !== undefined && row.height > to) return false;
  if (cursed !== undefined && cursedOf(row) !== cursed) return false;
  return (['metaprotocol', 'owner', 'parent', 'delegate'] as const).every(
    (name) => filter[name] === undefined || row[name] === filter[name],
  );
}

const ask = (question: ListQuestion) =>
  withSnapshot(database.pool, ({ client }) => listInscriptions(client, question), null);

/** All keys of a filter, page by page. */
async function allKeys(filter: PlainFilter, order: 'asc' | 'desc', limit: number): Promise<number[]> {
  const keys: number[] = [];
  let after: number | null = null;
  do {
    const page = await ask({ filter: filterOf(filter), order, limit, after });
    expect(page.inscriptions.length).toBeLessThanOrEqual(limit);
    keys.push(...page.inscriptions.map(({ key }) => key));
    after = page.endKey;
  } while (after !== null);
  return keys;
}

const expected = (filter: PlainFilter, order: 'asc' | 'desc'): number[] => {
  const keys = rows.filter((row) => meets(row, filter)).map(({ key }) => key);
  return order === 'asc' ? keys : keys.reverse();
};

const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const filters: fc.Arbitrary<PlainFilter> = fc.record({
  contentType: maybe([
    'text/plain',
    'image/png',
    'image/*',
    'text/*',
    'no-slash',
    'text/plain;charset=utf-8',
    'a/b',
    '/*',
  ]),
  from: maybe([0, 100, 599, 600, 10_000]),
  to: maybe([0, 120, 599, 10_000]),
  cursed: maybe([true, false]),
  metaprotocol: maybe(['p0', 'p1', 'p9']),
  owner: maybe([0, 1, 3, 77, 10_000]),
  parent: maybe([0, 1, 2, 999_999]),
  delegate: maybe([1, 3, 5, 99]),
});

describe('lists of inscriptions', () => {
  test('are those that a naive scan finds, for any filter, order and size of pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        filters,
        fc.constantFrom('asc' as const, 'desc' as const),
        fc.constantFrom(700, 1000),
        async (filter, order, limit) => {
          expect(await allKeys(filter, order, limit)).toEqual(expected(filter, order));
        },
      ),
      propertyBounds(30),
    );
  });

  test('are read in small pages too, without a row twice', async () => {
    const filter = { contentType: 'image/webp', from: 100, to: 130 };
    for (const order of ['asc', 'desc'] as const) {
      expect(await allKeys(filter, order, 3)).toEqual(expected(filter, order));
    }
  });

  test('end a page early where two filters of many have little in common', async () => {
    // half of the inscriptions belong to owner 0 and a third are pictures, but no inscription is both
    const filter = { owner: 0, contentType: 'image/*' };
    expect(expected(filter, 'desc')).toEqual([]);
    const page = await ask({ filter: filterOf(filter), order: 'desc', limit: 10, after: null });
    expect(page.inscriptions).toEqual([]);
    expect(page.endKey).not.toBeNull();
  });

  /** Plans of every statement that a query runs, with the pages that it reads. */
  async function plansOf(question: ListQuestion): Promise<string[]> {
    return withSnapshot(
      database.pool,
      async ({ client }) => {
        const plans: string[] = [];
        const watched = new Proxy(client, {
          get(target, name) {
            if (name !== 'query') return Reflect.get(target, name) as unknown;
            return async (sql: string, values: unknown[] = []) => {
              if (!sql.includes('set_config')) {
                const { rows: lines } = await target.query<Record<string, string>>(
                  `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) ${sql}`,
                  values,
                );
                plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
              }
              return target.query(sql, values);
            };
          },
        });
        await listInscriptions(watched, question);
        return plans;
      },
      null,
    );
  }

  const pagesRead = (plan: string): number =>
    [
      ...(plan.split('\n').find((line) => line.includes('Buffers:')) ?? '').matchAll(/(?:hit|read)=(\d+)/gu),
    ].reduce((sum, [, count]) => sum + Number(count), 0);

  test.each<[string, PlainFilter, string]>([
    ['no filter', {}, 'inscriptions_pkey'],
    ['heights alone', { from: 10, to: 500 }, 'inscriptions_pkey'],
    ['a type that most have', { contentType: 'text/plain' }, 'inscriptions_pkey'],
    ['a type', { contentType: 'image/png' }, 'inscriptions_type'],
    ['an unknown type', { contentType: 'image/none' }, 'inscriptions_type'],
    ['a class of types', { contentType: 'image/*' }, 'inscriptions_class'],
    ['cursed', { cursed: true }, 'inscriptions_curse'],
    ['blessed', { cursed: false }, 'inscriptions_pkey'],
    ['a metaprotocol within a range', { metaprotocol: 'p1', from: 20, to: 590 }, 'details_metaprotocol'],
    ['an owner of very many', { owner: 0 }, 'locations_owner'],
    ['a parent', { parent: 1 }, 'parents_parent'],
    ['a delegate', { delegate: 5 }, 'details_delegate'],
    ['the rarer of two', { owner: 77, contentType: 'image/*' }, 'locations_owner'],
  ])('walk along one index: %s', async (_name, filter, index) => {
    for (const order of ['asc', 'desc'] as const) {
      const plans = await plansOf({ filter: filterOf(filter), order, limit: 10, after: null });
      for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|Bitmap|Sort|Hash/u);
      const list = plans.find((plan) => plan.includes('inscriptions i ')) as string;
      expect(list.replaceAll('Index Only Scan', 'Index Scan')).toContain(
        `Index Scan${order === 'desc' ? ' Backward' : ''} using ${index} on`,
      );
    }
  });

  test.each<[string, PlainFilter]>([
    ['no filter', {}],
    ['a common type', { contentType: 'text/plain' }],
    ['an owner of ten thousand', { owner: 0 }],
    ['two of very many', { owner: 0, contentType: 'text/*', parent: 0 }],
  ])('touch a few pages of memory, not what there is: %s', async (_name, filter) => {
    const plans = await plansOf({ filter: filterOf(filter), order: 'desc', limit: 10, after: null });
    const list = plans.find((plan) => plan.includes('inscriptions i ')) as string;
    expect(pagesRead(list)).toBeGreaterThan(0);
    expect(pagesRead(list)).toBeLessThan(1_000);
  });
});

describe('a list whose index is still to be built', () => {
  /** Drops an index, like an upgrade that adds another index. The writer builds the index again afterwards. */
  async function without(index: string, work: () => Promise<void>): Promise<void> {
    const client = await database.pool.connect();
    try {
      await client.query(`DROP INDEX chain.${index}`);
      await work();
    } finally {
      await ensureSecondaryIndexes(client);
      client.release();
    }
  }

  test.each<[string, PlainFilter]>([
    ['inscriptions_type', { contentType: 'image/png' }],
    ['inscriptions_class', { contentType: 'image/*' }],
    ['details_metaprotocol', { metaprotocol: 'p1' }],
    ['details_delegate', { delegate: 5 }],
    ['locations_owner', { owner: 77 }],
    ['parents_parent', { parent: 1 }],
  ])('is refused at once: %s', async (index, filter) => {
    await without(index, async () => {
      const question = { filter: filterOf(filter), order: 'desc', limit: 10, after: null } as const;
      await expect(ask(question)).rejects.toMatchObject({
        code: 'index_missing',
        details: { indexes: [index] },
      });
    });
    expect(await allKeys(filter, 'desc', 1000)).toEqual(expected(filter, 'desc'));
  });

  test('is read by another index of its filter, or key by key where few inscriptions are asked for', async () => {
    await without('inscriptions_curse', async () => {
      for (const filter of [
        { cursed: true, contentType: 'image/png' },
        { cursed: true, from: 20, to: 100 },
      ]) {
        expect(expected(filter, 'asc').length).toBeGreaterThan(0);
        expect(await allKeys(filter, 'asc', 1000)).toEqual(expected(filter, 'asc'));
      }
    });
  });
});
