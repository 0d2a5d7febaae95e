import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertAccount, insertKey } from '#accounts/account.store.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { dumpTable } from '#backups/dump-tables.ts';
import { loadTable } from '#backups/load-tables.ts';
import { readManifest } from '#backups/verify-backup.ts';
import { openSession, useSession } from '#console/sessions/sessions.store.ts';
import { usualTerms } from '#kernel/contracts/asking-key.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { beginHold, readHold } from '#purse/holding/payment-hold.store.ts';
import { type Machine, newMachine, rowsByTable, withoutIndices } from '#test/support/backups/machine.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { makeTestWallet } from '#test/support/orders/test-wallet.ts';
import { migrateServiceTo } from '#test/support/postgres/older-database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { runCommand } from '#test/support/run-command.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';

let machine: Machine;
let folder: string;
beforeAll(async () => {
  machine = await newMachine();
  folder = await mkdtemp(join(tmpdir(), 'satscribe-backup-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await machine.close();
});

const signal = new AbortController().signal;

describe('a table', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = await connectClient(machine.database.url);
    await client.query(`CREATE TABLE service.any_values (place integer, "order" text, bytes bytea, amount numeric,
      at timestamptz, level double precision, list text[], twice integer GENERATED ALWAYS AS (place * 2) STORED)`);
  });
  afterAll(async () => {
    await client.query('DROP TABLE service.any_values');
    await client.end();
  });

  const row = fc.record({
    text: fc.option(
      fc
        .string({
          unit: fc.constantFrom(
            '\\',
            '.',
            '\n',
            '\r',
            '\t',
            'N',
            '"',
            "'",
            'ä',
            '\u{1f600}',
            '\u0001',
            '\b',
            'x',
          ),
        })
        .map(String),
    ),
    bytes: fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
    amount: fc.option(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map(String)),
    at: fc.option(fc.date({ min: new Date(0), noInvalidDate: true })),
    level: fc.option(fc.double({ noDefaultInfinity: true, noNaN: true })),
    list: fc.option(fc.array(fc.option(fc.constantFrom('', 'NULL', ',', '{', '"', '\\')))),
  });
  const columns = ['place', 'order', 'bytes', 'amount', 'at', 'level', 'list'];
  const allRows = async (): Promise<unknown[]> =>
    (await client.query<object>('SELECT * FROM service.any_values ORDER BY place')).rows;

  test('has the same values after COPY into a file and back', async () => {
    let file = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        await client.query('TRUNCATE service.any_values');
        for (const [place, { text, bytes, amount, at, level, list }] of rows.entries())
          await client.query('INSERT INTO service.any_values VALUES ($1, $2, $3, $4, $5, $6, $7)', [
            place,
            text,
            bytes,
            amount,
            at,
            level,
            list,
          ]);
        const before = await allRows();
        const path = join(folder, `${file++}.zst`);
        const table = { name: 'any_values', columns };
        const dumped = await withTransaction(client, (tx) =>
          dumpTable(tx, table, path, { signal, progress: () => undefined }),
        );
        expect(dumped).toMatchObject({ rows: rows.length, bytes: (await readFile(path)).length });
        await client.query('TRUNCATE service.any_values');
        await withTransaction(client, (tx) =>
          loadTable(tx, dumped, path, { signal, onBytes: () => undefined }),
        );
        expect(await allRows()).toEqual(before);
      }),
      { numRuns: propertyRuns(50) },
    );
  });
});

test('a backup has every table of docs/schema.sql', async () => {
  const schema = await readFile(new URL('../../../docs/schema.sql', import.meta.url), 'utf8');
  const known = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE service\.(\w+)/gmu)].map(
    ([, name]) => name!,
  );
  const dir = join(folder, 'all tables');
  await runCommand(['backup', dir], machine.env);
  const { tables } = await readManifest(dir);
  expect(tables.map(({ name }) => name)).toEqual(known.filter((name) => name !== 'migrations').toSorted());
});

test('a restored database has no living session of the console', async () => {
  const [source, target] = [await newMachine(), await newMachine()];
  try {
    const { pool } = source.database;
    await insertAccount(pool, 'operator');
    const made = newApiKey();
    await insertKey(pool, made, { account: 'operator', scopes: ['admin'], rate: null, terms: usualTerms });
    const { rows } = await pool.query<{ id: number }>('SELECT id FROM service.keys');
    const secret = await openSession(pool, rows[0]!.id, '10.0.0.1');
    const dir = join(folder, 'sessions');
    await runCommand(['backup', dir], source.env);
    await runCommand(['restore', dir, '--without-node'], target.env);
    expect(await useSession(pool, secret)).not.toBeNull();
    expect(await useSession(target.database.pool, secret)).toBeNull();
    const restored = await target.database.pool.query('SELECT FROM service.console_sessions');
    expect(restored.rowCount).toBe(1);
  } finally {
    await target.close();
    await source.close();
  }
});

test('a hold keeps the oldest block, and the indices of each restored backup', async () => {
  const machine = await newMachine();
  const { database } = machine;
  try {
    const backupAt = new Date(1_000);
    const restores = [
      { backupAt, height: 100, ends: endsAt(10) },
      { backupAt: new Date(2_000), height: 120, ends: endsAt(20) },
      { backupAt: new Date(3_000), height: 90, ends: { ...endsAt(20), own: 30 } },
      { backupAt: new Date(4_000), height: null, ends: endsAt(20) },
      { backupAt: new Date(5_000), height: 130, ends: endsAt(10) },
    ];
    for (const restore of restores) await withTransaction(database.pool, (tx) => beginHold(tx, restore));
    expect(await readHold(database.pool)).toMatchObject({
      backupAt,
      height: 90,
      ends: [endsAt(10), endsAt(20), { ...endsAt(20), own: 30 }],
    });
  } finally {
    await machine.close();
  }
});

test('a database of an earlier version is backed up as it is, and migrated after its restore', async () => {
  const [older, target] = [await newMachine(createEmptyDatabase), await newMachine(createEmptyDatabase)];
  try {
    await migrateServiceTo(older.database.url, 57);
    const client = await connectClient(older.database.url);
    await client.query(`INSERT INTO service.accounts (name) VALUES ('shop'), ('other')`);
    await client.end();
    await makeTestWallet(older.database.pool, older.seedFile);
    const dir = join(folder, 'older');
    await runCommand(['backup', dir], older.env);
    expect((await readManifest(dir)).migrations.at(-1)).toBe('0057_collections_in_runes');
    const rows = await rowsByTable(older.database.pool);
    await runCommand(['restore', dir, '--without-node'], target.env);
    const restored = await rowsByTable(target.database.pool);
    for (const [name, all] of Object.entries(withoutIndices(rows)))
      expect([name, restored[name]]).toEqual([name, all]);
    const { rows: last } = await target.database.pool.query<{ name: string }>(
      'SELECT name FROM service.migrations ORDER BY id',
    );
    expect(last.length).toBeGreaterThan(57);
    // the table of holds is younger than the backup
    expect(await readHold(target.database.pool)).toMatchObject({
      backupAt: new Date((await readManifest(dir)).createdAt),
      height: null,
      ends: [expect.anything()],
    });
  } finally {
    await target.close();
    await older.close();
  }
});
