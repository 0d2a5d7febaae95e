import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completeEventHashes } from '#indexer/apply/complete-event-hashes.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { inscriptionEvents } from '#indexer/events/inscription-events.ts';
import { follow } from '#indexer/follow/follow.ts';
import { rollback } from '#indexer/follow/rollback.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { birthKind } from '#test/support/chain/events/birth-events.ts';
import { readEntries, readHashes, readOutbox, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const golden = new GoldenChain('reorg-1');
const [best, short, long] = golden.tips().map(({ tip }) => tip) as [string, string, string];
const firstHeight = asHeight(90);
const births = birthKind({ firstHeight });
const both = [inscriptionEvents, births];
const { signal } = new AbortController();
let root: string;
let database: TestDatabase;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-kinds-'));
  golden.writeFolder(root);
});
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());
afterAll(() => rm(root, { recursive: true, force: true }));

interface GoOptions {
  readonly until?: Height;
  readonly kinds?: readonly EventKind[];
  readonly keep?: number;
}

async function goTo(
  pool: pg.Pool,
  tip: string,
  { until, kinds = both, keep = 1000 }: GoOptions = {},
): Promise<void> {
  const source = await openFolderSource(root, { tip });
  const last = until === undefined ? {} : { until };
  await follow({
    source,
    pool,
    signal,
    threads: parseThreads(),
    eventKinds: kinds,
    eventsKeepBlocks: keep,
    ...last,
  });
}

/** All rows of the additional event kind, with their text as it was written. */
async function readBirths(
  pool: pg.Pool,
): Promise<{ sequence: number; height: number; count: number; text: string | null }[]> {
  const { rows } = await pool.query<{
    sequence: number;
    height: number;
    event_count: number;
    events: Buffer | null;
  }>('SELECT sequence, height, event_count, events FROM chain.outbox_texts WHERE kind = 9 ORDER BY sequence');
  return rows.map(({ sequence, height, event_count: count, events }) => ({
    sequence,
    height,
    count,
    text: events === null ? null : inflateSync(events).toString('latin1'),
  }));
}

/**
 * Asserts that the stored events of both kinds equal the events of the tables. The hashes of each kind must be chained
 * from the kind's first height.
 */
async function expectWhole(pool: pg.Pool): Promise<void> {
  for (const kind of both) {
    const texts = (await textsOfTables(pool, 'regtest', kind)).filter(
      ({ height }) => height >= kind.firstHeight(networks.regtest),
    );
    let previous = Buffer.alloc(32);
    const expected = texts.map(({ height, text }) => {
      const sha256 = createHash('sha256').update(text, 'latin1').digest();
      previous = createHash('sha256').update(previous).update(sha256).digest();
      return [height, { sha256: sha256.toString('hex'), cumulative: previous.toString('hex') }];
    });
    expect([...(await readHashes(pool, kind))]).toEqual(expected);
  }
  const outbox = await readOutbox(pool);
  const cancelled = new Set(outbox.map(({ cancels }) => cancels));
  const applied = outbox.filter(({ sequence, cancels }) => cancels === null && !cancelled.has(sequence));
  const heightOf = new Map(applied.map(({ sequence, height }) => [sequence, height]));
  const told = (await readBirths(pool)).filter(({ sequence }) => heightOf.has(sequence));
  const made = (await textsOfTables(pool, 'regtest', births)).filter(({ height }) => height >= firstHeight);
  expect(told.map(({ sequence, height, count }) => [heightOf.get(sequence), height, count])).toEqual(
    made.map(({ height, count }) => [height, height, count]),
  );
  for (const [at, { text }] of told.entries()) if (text !== null) expect(text).toBe(made[at]?.text);
}

describe('a further kind', () => {
  test('leaves every row and hash of the inscriptions what it is without it', async () => {
    await goTo(database.pool, best);
    const other = await createTestDatabase();
    await goTo(other.pool, best, { kinds: [inscriptionEvents] });
    expect(await readOutbox(database.pool)).toEqual(await readOutbox(other.pool));
    expect(await readHashes(database.pool)).toEqual(await readHashes(other.pool));
    expect(await readBirths(other.pool)).toEqual([]);
    await other.drop();
    await expectWhole(database.pool);
    const told = await readBirths(database.pool);
    expect(told[0]?.height).toBe(firstHeight);
    expect(told.every(({ text }) => text !== null)).toBe(true);
    expect(told.map(({ text }) => text).join('')).toMatch(/^born [0-9a-f]{64}i0$/mu);
  });

  test('has the texts and hashes of its tables, whatever was applied and taken back', async () => {
    const walk = fc.array(
      fc.record({
        tip: fc.constantFrom(best, short, long),
        until: fc.option(fc.integer({ min: 80, max: 130 }).map(asHeight), { nil: undefined }),
        back: fc.option(fc.integer({ min: 0, max: 130 }).map(asHeight), { nil: undefined, freq: 2 }),
      }),
      { minLength: 2, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(walk, async (steps) => {
        const made = await createTestDatabase();
        const { pool } = made;
        try {
          for (const { tip, until, back } of steps) {
            await goTo(pool, tip, until === undefined ? {} : { until });
            await expectWhole(pool);
            if (back === undefined) continue;
            await rollback({ pool, network: 'regtest', height: back, signal });
            await expectWhole(pool);
          }
        } finally {
          await made.drop();
        }
      }),
      propertyBounds(1),
    );
  });

  test('keeps the texts of the newest blocks alone, and has the same text for older ones', async () => {
    await goTo(database.pool, best, { keep: 10 });
    const tip = golden.chain.headers.length - 1;
    const kept = (await readBirths(database.pool)).filter(({ text }) => text !== null);
    expect(kept.map(({ height }) => height)).toEqual(Array.from({ length: 10 }, (_, at) => tip - 9 + at));
    await expectWhole(database.pool);
    const entries = await readEntries(database.pool, births);
    const made = await textsOfTables(database.pool, 'regtest', births);
    expect(entries.map(({ eventCount, text }) => [eventCount, text?.toString('latin1')])).toEqual(
      made.map(({ count, text }) => [count, text]),
    );
  });

  test('is compared by verify', async () => {
    const { pool } = database;
    await goTo(pool, best);
    const verify = async (): Promise<unknown> => {
      const source = await openFolderSource(root, { tip: best });
      const verified = {
        source,
        pool,
        signal,
        threads: parseThreads(),
        differencesMax: 9,
        from: asHeight(100),
        eventKinds: both,
      };
      return (await verifyChain(verified)).differences;
    };
    expect(await verify()).toEqual([]);
    await pool.query("UPDATE chain.event_hashes SET sha256 = sha256('x') WHERE kind = 9 AND height = 120");
    expect(await verify()).toMatchObject([{ height: 120, row: 'kind 9, height 120', column: 'sha256' }]);
  });
});

describe('a kind that is added to a database', () => {
  test('gets its rows and hashes from its first height on, also when that was cut off', async () => {
    const { pool } = database;
    await goTo(pool, long, { kinds: [inscriptionEvents] });
    await goTo(pool, best, { kinds: [inscriptionEvents] });
    const before = await readOutbox(pool);
    const client = await pool.connect();
    const aborted = new AbortController();
    const cutOff = completeEventHashes(client, {
      network: networks.regtest,
      kinds: both,
      signal: aborted.signal,
      onProgress: () => aborted.abort(new Error('cut off')),
    });
    await expect(cutOff).rejects.toThrow('cut off');
    client.release();
    const some = await readHashes(pool, births);
    expect(some.size).toBeGreaterThan(0);
    expect(Math.max(...some.keys())).toBeLessThan(golden.chain.headers.length - 1);
    // opening the database resumes the interrupted work
    await goTo(pool, best);
    await expectWhole(pool);
    expect(await readOutbox(pool)).toEqual(before);
    const clean = await createTestDatabase();
    await goTo(clean.pool, best);
    expect(await readHashes(pool, births)).toEqual(await readHashes(clean.pool, births));
    await clean.drop();
    // blocks that were taken back before the kind existed have no events of this kind
    const entries = await readEntries(pool, births);
    const cancelled = new Set(entries.map(({ cancels }) => cancels));
    const gone = entries.filter(({ sequence, height }) => cancelled.has(sequence) && height >= firstHeight);
    expect(gone.length).toBeGreaterThan(5);
    expect(gone.every(({ eventCount, text }) => eventCount === null && text === null)).toBe(true);
    await goTo(pool, short);
    await expectWhole(pool);
  });

  test('has new texts and hashes where its version is another one', async () => {
    const { pool } = database;
    await goTo(pool, best);
    const old = await readHashes(pool, births);
    const next = birthKind({ firstHeight, version: 2 });
    await goTo(pool, best, { kinds: [inscriptionEvents, next] });
    expect(await readHashes(pool, births)).toEqual(new Map());
    const made = await readHashes(pool, next);
    expect([...made.keys()]).toEqual([...old.keys()]);
    expect(made).not.toEqual(old);
    expect((await readBirths(pool)).every(({ text }) => text === null)).toBe(true);
  });
});
