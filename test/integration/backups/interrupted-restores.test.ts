import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { restoreFailpoints } from '#kernel/process/failpoint.ts';
import { readHold } from '#purse/holding/payment-hold.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import {
  contentsBelow,
  type Machine,
  newMachine,
  rowsByTable,
  rulesOf,
  withoutIndices,
} from '#test/support/backups/machine.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { runCli } from '#test/support/run-cli.ts';
import { runCommand } from '#test/support/run-command.ts';
import { readMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { readWallet } from '#wallet/wallet.store.ts';

const file = { name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' };

let service: OrdersApp;
let source: Machine;
let dir: string;
let rows: Awaited<ReturnType<typeof rowsByTable>>;
beforeAll(async () => {
  service = await createOrdersApp();
  source = await newMachine();
  const body = { files: [file, file], receiveAddress: addressOf(700), fee: '3' };
  expect((await service.post('/inscribe', body)).status).toBe(200);
  dir = join(source.folder, 'backup');
  await writeFile(source.secretFile, Buffer.alloc(32, 5), { mode: 0o600 });
  rows = await rowsByTable(service.database.pool);
  await runCommand(['backup', dir], {
    ...service.database.settings,
    WALLET_SEED_FILE: service.seedFile,
    FILES_DIR: service.filesDir,
    SERVICE_SECRET_FILE: source.secretFile,
  });
});
afterAll(async () => {
  await source.close();
  await service.close();
});

/** Numbers of rows by table; null: the schema `service` is missing. */
const countsOf = ({ database }: Machine): Promise<Record<string, number> | null> =>
  rowsByTable(database.pool).then(
    (found) => Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all.length])),
    () => null,
  );

/** Expects that a machine has at most the rows that migrations write. */
async function expectEmpty(machine: Machine): Promise<void> {
  const counts = await countsOf(machine);
  if (counts !== null) expect(counts).toEqual(await countsOf(source));
}

describe('a restore that is killed', () => {
  // the mark is on disk, and no row is committed: the others take as long
  const first = 'restore-marked';
  test(`at ${first} is completed by a second one`, () => killedAt(first));
  test.each(restoreFailpoints.filter((name) => name !== first))(
    'at %s is completed by a second one',
    { tags: ['proof'] },
    killedAt,
  );

  async function killedAt(failpoint: (typeof restoreFailpoints)[number]): Promise<void> {
    const machine = await newMachine();
    try {
      const words = ['restore', dir, '--without-node'];
      const killed = await runCli(words, { ...machine.env, FAILPOINT: `${failpoint}:1` });
      expect(killed.signal).toBe('SIGKILL');
      const { pool } = machine.database;
      const owner = (await readWallet(service.database.pool))!;
      const mark = await readMark(`${machine.seedFile}.mark`, owner);
      if (failpoint === 'restore-loaded') {
        // only the migration to this version was missing
        expect(withoutIndices(await rowsByTable(pool))).toEqual(withoutIndices(rows));
        expect((await readRelease(pool))?.next).toEqual(mark);
        expect(await readHold(pool)).not.toBeNull();
        return;
      }
      await expectEmpty(machine);
      expect(mark === null).toBe(failpoint !== 'restore-marked');
      await runCommand(words, machine.env);
      expect(withoutIndices(await rowsByTable(pool))).toEqual(withoutIndices(rows));
      expect(await rulesOf(pool)).toEqual(await rulesOf(service.database.pool));
      expect(await contentsBelow(machine.filesDir)).toEqual(await contentsBelow(service.filesDir));
      const { next } = (await readRelease(pool))!;
      expect(next).toEqual(await readMark(`${machine.seedFile}.mark`, owner));
      if (mark !== null) expect(next.orders).toBe(mark.orders + 1_000_000);
      // a start at any moment after the rows are loaded pays nothing
      expect(await readHold(pool)).not.toBeNull();
    } finally {
      await machine.close();
    }
  }

  test('by an error of the database leaves an empty service, and says so', async () => {
    const machine = await newMachine();
    try {
      // the mark cannot be written at the end of the load
      const env = { ...machine.env, WALLET_MARK_FILE: '/proc/mark' };
      await expect(runCommand(['restore', dir, '--without-node'], env)).rejects.toMatchObject({
        code: 'wallet_mark_unwritable',
        message: expect.stringContaining(
          'the service is empty, files that were put in place stay, and the same command can be run again',
        ) as string,
      });
      await expectEmpty(machine);
    } finally {
      await machine.close();
    }
  });
});
