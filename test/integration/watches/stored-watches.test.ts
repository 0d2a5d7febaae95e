import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAccount, insertKey } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { usualTerms } from '#kernel/contracts/asking-key.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { within } from '#test/support/webhooks/sending.ts';
import { idOfForm } from '#watches/form-watch-id.ts';
import { readFindings, readNewestFindings } from '#watches/store/findings.store.ts';
import { deleteOld } from '#watches/store/live-watches.store.ts';
import {
  createWatch,
  deleteWatch,
  readWatch,
  readWatches,
  watchesMax,
} from '#watches/store/watches.store.ts';
import { findingId, type Watch } from '#watches/watch.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertAccount(database.pool, 'alice');
});
afterAll(() => database.drop());

async function newKey(): Promise<number> {
  const key = newApiKey();
  const terms = { account: 'alice', scopes: ['search' as const], rate: null, terms: usualTerms };
  return (await insertKey(database.pool, key, terms)).id;
}

const asked = (keyId: number) => ({
  keyId,
  kind: 'search' as const,
  condition: { text: 'brc-20,mint', words: true },
  webhookUrl: null,
  secretKey: null,
});

/** A new watch. The role that answers requests creates it, as in a service. */
async function newWatch(keyId: number): Promise<Watch> {
  const made = await createWatch(database.accessPool, asked(keyId));
  if (made.kind === 'full') throw new Error('the key has too many watches');
  return made.watch;
}

test('a watch is read by its own key alone, until the key deletes the watch', async () => {
  const { accessPool } = database;
  const [mine, other] = [await newKey(), await newKey()];
  const watch = await newWatch(mine);
  expect(watch).toMatchObject({ ...asked(mine), endedAt: null, endReason: null, lastNumber: 0, found: 0 });
  const search = await createWatch(accessPool, {
    ...asked(mine),
    kind: 'children',
    condition: { parent: `${'ab'.repeat(32)}i0` },
    webhookUrl: 'https://example.com/hook',
    secretKey: new Uint8Array(32).fill(7),
  });
  expect(search).toMatchObject({ watch: { kind: 'children', secretKey: Buffer.alloc(32, 7) } });
  expect(await readWatch(accessPool, mine, watch.id)).toEqual(watch);
  expect(await readWatch(accessPool, null, watch.id)).toEqual(watch);
  expect(await readWatches(accessPool, mine, 'search')).toEqual([watch]);
  expect(await readWatches(accessPool, mine, null)).toHaveLength(2);
  expect(await readWatch(accessPool, other, watch.id)).toBeNull();
  expect(await readWatch(accessPool, mine, 'no id')).toBeNull();
  expect(await deleteWatch(accessPool, other, watch.id, null)).toBeNull();
  expect(await deleteWatch(accessPool, mine, watch.id, 'runes')).toBeNull();
  expect(await deleteWatch(accessPool, mine, 'no id', null)).toBeNull();
  expect(await deleteWatch(accessPool, mine, watch.id, 'search')).toEqual(watch);
  expect(await deleteWatch(accessPool, mine, watch.id, null)).toBeNull();
  expect(await readWatch(accessPool, mine, watch.id)).toBeNull();
  expect(await readWatches(accessPool, mine, 'search')).toEqual([]);
});

test('a key has at most 100 active watches, even if it asks for them at once', async () => {
  const key = await newKey();
  const made = await Promise.all(
    Array.from({ length: watchesMax + 5 }, () => createWatch(database.accessPool, asked(key))),
  );
  const full = made.filter(({ kind }) => kind === 'full');
  expect(full).toEqual(Array.from({ length: 5 }, () => ({ kind: 'full', count: watchesMax })));
  const first = made.find((each) => each.kind === 'created');
  await deleteWatch(database.accessPool, key, first?.watch.id ?? '', null);
  expect(await createWatch(database.accessPool, asked(key))).toMatchObject({ kind: 'created' });
});

test('a form that is sent again after its watch has ended or was deleted creates a new watch', async () => {
  const { pool, accessPool } = database;
  const key = await newKey();
  const form = { ...asked(key), id: idOfForm(['a form']) };
  const create = async (): Promise<Watch> => {
    const made = await createWatch(accessPool, form);
    if (made.kind === 'full') throw new Error('the key has too many watches');
    return made.watch;
  };
  const first = await create();
  expect(await create()).toEqual(first);
  await pool.query(`UPDATE service.watches SET ended_at = now(), end_reason = 'gone' WHERE id = $1`, [
    first.id,
  ]);
  const second = await create();
  expect(second).toMatchObject({ endedAt: null, condition: form.condition });
  expect(second.id).not.toBe(first.id);
  const other = { ...form, id: idOfForm(['another form']) };
  const deleted = await createWatch(accessPool, other);
  expect(await deleteWatch(accessPool, key, other.id, null)).toMatchObject({ id: other.id });
  expect(await deleteWatch(accessPool, key, other.id, null)).toBeNull();
  expect(await readWatch(accessPool, null, other.id)).toBeNull();
  expect(await readWatches(accessPool, key, null)).toHaveLength(2);
  const again = await createWatch(accessPool, other);
  expect(deleted).toMatchObject({ kind: 'created', watch: { id: other.id } });
  expect(again).toMatchObject({ kind: 'created', watch: { endedAt: null } });
  expect(again).not.toMatchObject({ watch: { id: other.id } });
});

test('a key keeps its newest 100 ended watches, and a new watch is always shown', async () => {
  const { pool, accessPool } = database;
  const key = await newKey();
  await pool.query(
    `INSERT INTO service.watches (id, key_id, kind, condition, since, created_at, ended_at, end_reason)
     SELECT gen_random_uuid(), $1, 'runes', '{}', n, now(), now() - n * interval '1 minute', 'gone'
       FROM generate_series(1, 150) AS n`,
    [key],
  );
  const watch = await newWatch(key);
  const shown = await readWatches(accessPool, key, null);
  expect(shown.map(({ endedAt }) => endedAt === null).filter(Boolean)).toHaveLength(1);
  expect(shown).toContainEqual(watch);
  expect(shown).toHaveLength(101);
  const { rows } = await pool.query(
    'SELECT max(since) AS oldest FROM service.watches WHERE key_id = $1 AND ended_at < now()',
    [key],
  );
  expect(rows).toEqual([{ oldest: 100 }]);
});

test('old findings are deleted a bounded number at once, and then old watches', async () => {
  const { pool } = database;
  const [kept, ended] = [await newWatch(await newKey()), await newWatch(await newKey())];
  await pool.query(
    `UPDATE service.watches SET ended_at = now() - interval '31 days', end_reason = 'gone' WHERE id = $1`,
    [ended.id],
  );
  await pool.query(
    `INSERT INTO service.watch_findings (watch_id, thing, state, number, txid, facts, changed_at)
     SELECT id, 'thing ' || n, 'pending', n, decode(repeat('ab', 32), 'hex'), '{}',
            now() - CASE WHEN n = 4000 THEN interval '29 days' ELSE interval '31 days' END
       FROM unnest($1::uuid[]) AS id CROSS JOIN generate_series(1, 4000) AS n
      WHERE id = $2 OR n < 4000`,
    [[kept.id, ended.id], kept.id],
  );
  const leftOf = async ({ id }: Watch): Promise<number[]> => {
    const { rows } = await pool.query<{ number: number }>(
      'SELECT number FROM service.watch_findings WHERE watch_id = $1 ORDER BY number',
      [id],
    );
    return rows.map(({ number }) => number);
  };
  const other = await pool.connect();
  try {
    // the key deletes a finding at the same time
    await other.query('BEGIN');
    await other.query('SELECT FROM service.watch_findings WHERE watch_id = $1 AND number = 1 FOR UPDATE', [
      kept.id,
    ]);
    expect(await within(database, deleteOld)).toBe(true);
    expect((await leftOf(kept)).length + (await leftOf(ended)).length).toBe(2_999);
    expect(await within(database, deleteOld)).toBe(false);
    expect(await leftOf(kept)).toEqual([1, 4_000]);
  } finally {
    await other.query('ROLLBACK');
    other.release();
  }
  const { rows } = await pool.query('SELECT id FROM service.watches WHERE id = ANY($1)', [
    [kept.id, ended.id],
  ]);
  expect(rows).toEqual([{ id: kept.id }]);
});

test('findings are read in pages by their numbers', async () => {
  const { pool, readers } = database;
  const watch = await newWatch(await newKey());
  expect(await readFindings(readers, watch.id, { after: 0, limit: 10 })).toEqual({
    findings: [],
    lastNumber: 0,
    more: false,
  });
  await pool.query(
    `INSERT INTO service.watch_findings (watch_id, thing, state, number, txid, facts)
     SELECT $1, 'thing ' || n, 'pending', n, $2, '{}' FROM generate_series(1, 3) AS n`,
    [watch.id, Buffer.alloc(32, 1)],
  );
  await pool.query('UPDATE service.watches SET last_number = 3, found = 3 WHERE id = $1', [watch.id]);
  const first = await readFindings(readers, watch.id, { after: 0, limit: 2 });
  expect(first).toMatchObject({ lastNumber: 3, more: true, findings: [{ number: 1 }, { number: 2 }] });
  const next = await readFindings(readers, watch.id, { after: 2, limit: 2 });
  expect(next).toMatchObject({
    lastNumber: 3,
    more: false,
    findings: [
      { id: findingId(watch.id, 'thing 3'), thing: 'thing 3', state: 'pending', txid: '01'.repeat(32) },
    ],
  });
  expect((await readNewestFindings(readers, watch.id, 2)).map(({ number }) => number)).toEqual([3, 2]);
});
