import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { knownEnds } from '#indexer/follow/known-blocks.ts';
import { makePlan, type Steps } from '#indexer/follow/plan-steps.ts';
import type { BlockRef, BlockSource, Island } from '#kernel/contracts/block-source.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

let database: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
});
afterAll(async () => {
  client.release();
  await database.drop();
});

const ref = (height: number, branch: number): BlockRef => {
  const hash = Buffer.alloc(32, branch);
  hash.writeUInt32LE(height, 0);
  return { height: asHeight(height), hash: asBlockHash(hash) };
};
const chainOf = (length: number, forkAt: number, branch: number): BlockRef[] =>
  Array.from({ length }, (_, height) => ref(height, height < forkAt ? 0 : branch));

/** A source that has only references of blocks, and counts how many it returned. */
function sourceOf(refs: readonly BlockRef[]): BlockSource & { given: number } {
  const islands: Island[] = [];
  for (const { height } of refs) {
    const last = islands.at(-1);
    if (last?.lastHeight === height - 1) islands[islands.length - 1] = { ...last, lastHeight: height };
    else islands.push({ firstHeight: height, lastHeight: height, start: {} });
  }
  const source = {
    name: 'refs',
    network: 'regtest' as const,
    trusted: true,
    given: 0,
    islands: () => Promise.resolve(islands),
    refs: (from = 0) => {
      const given = refs.filter(({ height }) => height >= from);
      source.given += given.length;
      return Promise.resolve(given);
    },
    read: () => Promise.reject(new Error('nothing is read for a plan')),
    close: () => Promise.resolve(),
  };
  return source;
}

async function stepsTo(source: BlockSource): Promise<Steps> {
  const { plan, sourceTip } = await makePlan(
    client,
    await knownEnds(client),
    source,
    new AbortController().signal,
  );
  expect(sourceTip).toEqual((await source.refs()).at(-1));
  if (plan.kind !== 'steps') throw new Error(`no steps but ${plan.kind}`);
  return plan;
}

async function store(refs: readonly BlockRef[]): Promise<void> {
  await client.query('TRUNCATE chain.blocks');
  await client.query(
    `INSERT INTO chain.blocks (height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored,
       has_spent, first_key, next_key, next_content_id, next_metadata_id)
     SELECT height, hash, $3, 0, now(), 0, 0, height - run, true, true, 0, 0, 0, 0 FROM (
       SELECT height, hash, row_number() OVER (PARTITION BY island ORDER BY height) - 1 AS run FROM (
         SELECT height, hash, height - row_number() OVER (ORDER BY height) AS island
         FROM unnest($1::integer[], $2::bytea[]) AS given(height, hash)) AS numbered) AS runs`,
    [refs.map(({ height }) => height), refs.map(({ hash }) => Buffer.from(hash)), Buffer.alloc(80)],
  );
}

/** A node of mainnet that has its chain from a height on. */
function nodeOf(firstHeight: number, length: number): LiveBlockSource & { asked: number[] } {
  const headers: HeaderRef[] = [];
  for (let height = firstHeight; height < firstHeight + length; height++) {
    const header = new Uint8Array(80);
    header.set(headers.at(-1)?.hash ?? new Uint8Array(32), 4);
    new DataView(header.buffer).setUint32(72, 0x1d00ffff, true);
    headers.push({ ...ref(height, 0), header });
  }
  const asked: number[] = [];
  return {
    ...sourceOf(headers),
    network: 'mainnet',
    asked,
    tip: () => Promise.resolve(headers.at(-1) ?? ref(100, 0)),
    headers: (from, count) => {
      asked.push(from);
      return Promise.resolve(
        from < firstHeight ? [] : headers.slice(from - firstHeight, from - firstHeight + count),
      );
    },
    isInvalid: () => Promise.resolve(false),
    news: () => Promise.resolve(),
  };
}

describe('the plan for a node whose chain begins at the first height of inscriptions', () => {
  const first = 767_430;

  test('begins there, page by page', async () => {
    await store([]);
    const node = nodeOf(first, 5000);
    const { apply } = await stepsTo(node);
    expect(apply[0]?.height).toBe(first);
    expect(apply).toHaveLength(2000);
    await store(apply);
    node.asked.length = 0;
    const next = await stepsTo(node);
    expect(next).toMatchObject({ undoTo: null });
    expect(next.apply[0]?.height).toBe(first + 2000);
    expect(node.asked).toEqual([first + 1999]);
  });

  test('takes back an island that begins above, and keeps one that begins there', async () => {
    const node = nodeOf(first, 3000);
    const refs = (await node.refs()).map((each) => each);
    await store(refs.slice(10, 12));
    expect(await stepsTo(node)).toMatchObject({ undoTo: -1 });
    await store(refs.slice(0, 12));
    expect(await stepsTo(node)).toMatchObject({ undoTo: null });
  });

  test('waits for a node that has not reached it', async () => {
    await store([]);
    const node = nodeOf(first, 0);
    const { plan, sourceTip } = await makePlan(client, null, node, new AbortController().signal);
    expect(plan).toEqual({ kind: 'steps', undoTo: null, apply: [] });
    expect(sourceTip?.height).toBe(100);
  });
});

describe('the plan for a source', () => {
  test('is that of the whole chains, however deep they separate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7000 }),
        fc.integer({ min: 1, max: 7000 }),
        fc.nat(7000),
        async (ourLength, theirLength, forkAt) => {
          const ours = chainOf(ourLength, forkAt, 1);
          const theirs = chainOf(theirLength, forkAt, 2);
          await store(ours);
          const shared = Math.min(forkAt, ourLength, theirLength);
          const { undoTo, apply } = await stepsTo(sourceOf(theirs));
          expect(undoTo).toBe(shared === ourLength ? null : shared - 1);
          expect(apply.map(({ height }) => height)).toEqual(theirs.slice(shared).map(({ height }) => height));
        },
      ),
      { numRuns: propertyRuns(10) },
    );
  });

  test('of a chain without gaps reads only its end', async () => {
    const ours = chainOf(9000, 8990, 1);
    const theirs = sourceOf(chainOf(9005, 8990, 2));
    await store(ours);
    expect(await stepsTo(theirs)).toMatchObject({ undoTo: 8989 });
    // do not count the 9,005 references that this test itself read
    expect(theirs.given - 9005).toBeLessThan(60);
  });

  test('of a chain with gaps reads all of it', async () => {
    const without = (height: number, refs: BlockRef[]): BlockRef[] =>
      refs.filter((each) => each.height !== height);
    const chain = chainOf(5000, 5000, 0);
    await store(without(7, chain));
    expect(await stepsTo(sourceOf(chain))).toMatchObject({ undoTo: 6 });
    await store(chain);
    expect(await stepsTo(sourceOf(without(9, chain)))).toMatchObject({ undoTo: 8 });
    await store(without(7, chain));
    expect(await stepsTo(sourceOf(without(7, chain)))).toMatchObject({ undoTo: null, apply: [] });
  });

  test('for an empty database is everything', async () => {
    await store([]);
    const chain = chainOf(3, 3, 0);
    expect(await stepsTo(sourceOf(chain))).toMatchObject({ undoTo: null, apply: chain });
  });
});
