import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureReaderRights } from '#kernel/pg/reader-role.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import {
  contentsBelow,
  type Machine,
  newMachine,
  rowsByTable,
  rulesOf,
  sequencesOf,
  withoutIndices,
} from '#test/support/backups/machine.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { releaseTestWallet } from '#test/support/orders/test-wallet.ts';
import { runCommand } from '#test/support/run-command.ts';
import { takeIndices } from '#test/support/wallet/take-indices.ts';
import { readMark, writeMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { readWallet } from '#wallet/wallet.store.ts';

const file = { name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' };
const direct = { files: [file], receiveAddress: addressOf(700), fee: '3' };
/** Paid to the wallet, without a leaf: the address depends only on the key. */
const managed = { ...direct, files: [file, file], uncurseIt: true };
const skipped = 1_000_000;

let service: OrdersApp;
let machine: Machine;
let env: Record<string, string>;
const addresses: string[] = [];

async function ordered(body: object): Promise<string> {
  const made = await service.post<{ id?: string }>('/inscribe', body);
  expect(made.status).toBe(200);
  const read = await service.get<{ charge: { address: string } }>(`/order/${made.body.id}`);
  addresses.push(read.body.charge.address);
  return read.body.charge.address;
}

beforeAll(async () => {
  service = await createOrdersApp();
  machine = await newMachine();
  const secretFile = join(machine.folder, 'secret of the service');
  await writeFile(secretFile, Buffer.alloc(32, 5), { mode: 0o600 });
  env = {
    ...service.database.settings,
    WALLET_SEED_FILE: service.seedFile,
    FILES_DIR: service.filesDir,
    SERVICE_SECRET_FILE: secretFile,
  };
});
afterAll(async () => {
  await machine.close();
  await service.close();
});

const markOf = async (seedFile: string) =>
  readMark(`${seedFile}.mark`, (await readWallet(service.database.pool))!);

// a service, its backup, and its restore, in their order
describe('a service that is restored from a backup', { shuffle: false }, () => {
  let dir: string;
  let rows: Awaited<ReturnType<typeof rowsByTable>>;
  let sequences: readonly string[];

  test('is backed up while it runs', async () => {
    await ordered(direct);
    await ordered(managed);
    dir = join(machine.folder, 'backup');
    rows = await rowsByTable(service.database.pool);
    sequences = await sequencesOf(service.database.pool);
    const output = await runCommand(['backup', dir], env);
    expect(output).toContain(`backup    ${dir}\n`);
    expect(output).toContain('keep it apart');
    expect((await stat(join(dir, 'wallet.seed'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'service.secret'))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    // the words are in one file alone
    const words = (await readFile(service.seedFile, 'utf8')).trim();
    const { 'wallet.seed': seed, ...others } = await contentsBelow(dir);
    expect(Buffer.from(seed!, 'hex').toString().trim()).toBe(words);
    expect(JSON.stringify(others)).not.toContain(Buffer.from(words).toString('hex'));
  });

  test('has the same rows, rules, files and secrets on another machine, and shows no address twice', async () => {
    // an order that the backup does not know
    await ordered(managed);
    const output = await runCommand(['restore', dir, '--without-node'], machine.env);
    expect(output).toContain('the chain was not asked (--without-node)');
    const { pool, url, readerUrl } = machine.database;
    expect(withoutIndices(await rowsByTable(pool))).toEqual(withoutIndices(rows));
    expect(await sequencesOf(pool)).toEqual(sequences);
    expect(await rulesOf(pool)).toEqual(await rulesOf(service.database.pool));
    expect(await contentsBelow(machine.filesDir)).toEqual(await contentsBelow(service.filesDir));
    expect(await readFile(machine.seedFile)).toEqual(await readFile(service.seedFile));
    expect(await readFile(machine.secretFile)).toEqual(Buffer.alloc(32, 5));
    for (const path of [machine.seedFile, machine.secretFile])
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    // the reader has its rights
    expect(await ensureReaderRights(null, readerUrl)).toBeNull();
    // nothing is handed out before a process with the seed has released beyond the mark
    const before = (await markOf(service.seedFile))!;
    const mark = await markOf(machine.seedFile);
    expect(mark).toEqual({
      orders: before.orders + skipped,
      own: before.own + skipped,
      fees: before.fees + skipped,
    });
    expect(await readRelease(pool)).toMatchObject({
      next: mark,
      released: mark,
      session: null,
      isLive: false,
    });
    const taken = () => withTransaction(pool, (tx) => takeIndices(tx, { orders: 1 }));
    await expect(taken()).rejects.toMatchObject({ code: 'wallet_indices_unreleased' });
    const end = await releaseTestWallet(url, machine.seedFile, (await readWallet(pool))!);
    expect((await taken()).orders).toBeGreaterThanOrEqual(mark!.orders);
    await end();
  });

  test('is restored beside a newer mark, and continues beyond it', async () => {
    const later = await newMachine(createEmptyDatabase);
    try {
      const owner = (await readWallet(service.database.pool))!;
      await writeMark(`${later.seedFile}.mark`, owner, { orders: 7_000_000, own: 10, fees: 8_000_000 });
      const before = (await markOf(service.seedFile))!;
      await runCommand(['restore', dir, '--without-node', '--json'], later.env);
      expect(await readMark(`${later.seedFile}.mark`, owner)).toEqual({
        orders: 7_000_000 + skipped,
        own: before.own + skipped,
        fees: 8_000_000 + skipped,
      });
    } finally {
      await later.close();
    }
  });

  test('is backed up as one moment while orders arrive', async () => {
    const target = await newMachine();
    try {
      const path = join(machine.folder, 'beside orders');
      let isRunning = true;
      let made = 0;
      const arriving = (async () => {
        while (isRunning) {
          await ordered(managed);
          made++;
        }
      })();
      await runCommand(['backup', path], env).finally(() => {
        isRunning = false;
      });
      await arriving;
      expect(made).toBeGreaterThan(0);
      // foreign keys are checked by the restore
      await runCommand(['restore', path, '--without-node'], target.env);
      const { rows: found } = await target.database.pool.query<{ orders: number; whole: number }>(
        `SELECT count(*)::int AS orders, count(*) FILTER (WHERE files = 2)::int AS whole
           FROM (SELECT (SELECT count(*) FROM service.order_files WHERE order_id = id) AS files
                   FROM service.orders WHERE paid_to = 'wallet') AS counted`,
      );
      expect(found[0]!.whole).toBe(found[0]!.orders);
      expect(found[0]!.orders).toBeGreaterThan(0);
    } finally {
      await target.close();
    }
  });

  test('has shown distinct addresses', () => {
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});
