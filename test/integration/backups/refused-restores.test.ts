import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BackupManifest, manifestText, parseManifest } from '#backups/backup-manifest.ts';
import { loadConfig } from '#config/config.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { requireRoom } from '#src/app/backups/restore-checks.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { contentsBelow, type Machine, newMachine, rowsByTable } from '#test/support/backups/machine.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { makeTestWallet } from '#test/support/orders/test-wallet.ts';
import { runCommand } from '#test/support/run-command.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { writeMark } from '#wallet/indices/mark-file.ts';
import { newSeedWords } from '#wallet/seed-file.ts';
import { readWallet } from '#wallet/wallet.store.ts';

const file = { name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' };
const order = { files: [file, file], receiveAddress: addressOf(700), fee: '3' };

let service: OrdersApp;
let source: Record<string, string>;
let backup: string;
let dir: string;
let machine: Machine;
beforeAll(async () => {
  service = await createOrdersApp();
  machine = await newMachine();
  expect((await service.post('/inscribe', order)).status).toBe(200);
  backup = join(machine.folder, 'backup');
  const secretFile = join(machine.folder, 'secret of the service');
  await writeFile(secretFile, Buffer.alloc(32, 5), { mode: 0o600 });
  source = {
    ...service.database.settings,
    WALLET_SEED_FILE: service.seedFile,
    FILES_DIR: service.filesDir,
    SERVICE_SECRET_FILE: secretFile,
  };
  await runCommand(['backup', backup], source);
});
afterAll(async () => {
  await machine.close();
  await service.close();
});
beforeEach(async () => {
  dir = join(machine.folder, 'copied');
  await rm(dir, { recursive: true, force: true });
  await cp(backup, dir, { recursive: true });
  for (const name of ['seed', 'seed.mark', 'secret', 'files'])
    await rm(join(machine.folder, name), { recursive: true, force: true });
});

/** Everything of the machine that a restore may change. */
const stateOf = async () => ({
  rows: await rowsByTable(machine.database.pool),
  files: await contentsBelow(machine.folder),
});

/** Expects that the restore is refused with this code and text, and changes nothing. */
async function expectRefused(code: string, says: string, env: Record<string, string> = {}): Promise<void> {
  const before = await stateOf();
  const words = ['restore', dir, '--without-node'];
  await expect(runCommand(words, { ...machine.env, ...env })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(says) as string,
  });
  expect(await stateOf()).toEqual(before);
}

/** Changes the manifest, with a right checksum. */
async function rewritten(change: (manifest: BackupManifest) => object): Promise<void> {
  const path = join(dir, 'backup.json');
  const manifest = parseManifest(await readFile(path, 'utf8'));
  await writeFile(path, manifestText({ ...manifest, ...change(manifest) }));
}

const ordersFile = (): string => join(dir, 'service/orders.copy.zst');

describe('a restore is refused, and changes nothing', () => {
  test.each<[string, string, () => Promise<void>]>([
    ['its manifest is missing', 'backup.json is missing', () => rm(join(dir, 'backup.json'))],
    [
      'its manifest was edited',
      'backup.json was changed',
      async () => {
        const text = await readFile(join(dir, 'backup.json'), 'utf8');
        await writeFile(join(dir, 'backup.json'), text.replace('"regtest"', '"mainnet"'));
      },
    ],
    ['its manifest is no JSON', 'backup.json is not JSON', () => writeFile(join(dir, 'backup.json'), '{')],
    [
      'its manifest lacks a field',
      'lacks a field',
      () => rewritten(({ tables }) => ({ tables: tables.map(({ name }) => ({ name })) })),
    ],
    [
      'its manifest has a table outside of the folder',
      'lacks a field, or has one of another form',
      () => rewritten(({ tables }) => ({ tables: tables.map((table) => ({ ...table, name: '../orders' })) })),
    ],
    ['a table is missing', 'orders.copy.zst is missing', () => rm(ordersFile())],
    ['a table is cut short', 'orders.copy.zst', () => truncate(ordersFile(), 40)],
    ['a table is empty', 'orders.copy.zst', () => truncate(ordersFile(), 0)],
    [
      'a byte of a table was changed',
      'orders.copy.zst',
      async () => {
        const bytes = await readFile(ordersFile());
        bytes[bytes.length - 20]! ^= 1;
        await writeFile(ordersFile(), bytes);
      },
    ],
    [
      'a table has bytes after its end',
      'orders.copy.zst',
      async () => writeFile(ordersFile(), Buffer.concat([await readFile(ordersFile()), Buffer.alloc(9)])),
    ],
    [
      'its list of files was changed',
      'files.list was changed',
      async () => writeFile(join(dir, 'files.list'), `${'0'.repeat(64)} 1\n`),
    ],
    ['its list of files is missing', 'files.list is missing', () => rm(join(dir, 'files.list'))],
    ['a file is missing', 'is missing', () => rm(join(dir, 'files'), { recursive: true })],
    [
      'a file was changed',
      'was changed',
      async () => {
        const [name] = Object.keys(await contentsBelow(join(dir, 'files')));
        await writeFile(join(dir, 'files', name!), 'b');
      },
    ],
    ['its secret is missing', 'service.secret is missing', () => rm(join(dir, 'service.secret'))],
    [
      'its secret was changed',
      'service.secret was changed',
      () => writeFile(join(dir, 'service.secret'), Buffer.alloc(32, 6)),
    ],
    [
      'its seed is another one',
      'wallet.seed is the seed of another wallet',
      () => writeFile(join(dir, 'wallet.seed'), newSeedWords()),
    ],
    [
      'its migrations are not in order',
      'its migrations are not those of a version',
      () => rewritten(({ migrations }) => ({ migrations: migrations.slice(1) })),
    ],
  ])('if %s', async (_, says, damage) => {
    await damage();
    await expectRefused('backup_damaged', says);
  });

  test.each<[string, string, (manifest: BackupManifest) => object]>([
    ['its format is newer', 'it has format 2', () => ({ format: 2, program: '9.9.9' })],
    [
      'it has a migration of a newer version',
      'it has migrations that this version does not know: 9999_new',
      ({ migrations }) => ({ migrations: [...migrations, '9999_new'], program: '9.9.9' }),
    ],
  ])('if %s, and the version is named', async (_, says, change) => {
    await rewritten(change);
    await expectRefused('backup_newer', says);
    await expectRefused('backup_newer', 'Satscribe 9.9.9 made the backup');
  });

  test('if the settings or the database name another network', async () => {
    await expectRefused('network_mismatch', 'The settings name signet', { NETWORK: 'signet' });
    const { pool } = machine.database;
    await pool.query(`INSERT INTO service.instance (network) VALUES ('signet')`);
    try {
      await expectRefused('network_mismatch', 'The database serves signet, and the backup is of regtest');
    } finally {
      await pool.query('DELETE FROM service.instance');
    }
  });

  test.each<[string, string, string, string]>([
    [
      'accounts',
      '1 in accounts',
      `INSERT INTO service.accounts (name) VALUES ('shop')`,
      'DELETE FROM service.accounts',
    ],
    [
      'referrals',
      '2 in referrals',
      `INSERT INTO service.referrals SELECT 'code' || n, 'bc1', 'x'::bytea FROM generate_series(1, 2) AS n`,
      'DELETE FROM service.referrals',
    ],
  ])('if the database has %s, with their number', async (_, says, add, remove) => {
    const { pool } = machine.database;
    await pool.query(add);
    try {
      await expectRefused('restore_refused', says);
    } finally {
      await pool.query(remove);
    }
  });

  test('if the database has a wallet', async () => {
    const { pool } = machine.database;
    await makeTestWallet(pool, join(machine.folder, 'other seed'));
    try {
      await expectRefused('restore_refused', '1 in wallet, 4 in wallet_branches');
    } finally {
      await pool.query('TRUNCATE service.wallet, service.wallet_branches, service.instance');
    }
  });

  test('onto the database of the service itself, while it runs and after it', async () => {
    const env = { ...source, SERVICE_SECRET_FILE: machine.secretFile };
    const before = await rowsByTable(service.database.pool);
    const restore = () => runCommand(['restore', dir, '--without-node'], env);
    await expect(restore()).rejects.toMatchObject({ code: 'database_busy' });
    await service.endReleases();
    await expect(restore()).rejects.toMatchObject({
      code: 'restore_refused',
      message: expect.stringContaining('1 in orders') as string,
    });
    expect(await rowsByTable(service.database.pool)).toEqual(before);
  });

  test('if a process answers from the database', async () => {
    const readers = createPool(machine.database.readerUrl, {
      applicationName: 'satscribe readers 0123456789ab',
    });
    await readers.query('SELECT');
    await expectRefused('database_busy', 'A service runs with this database');
    await readers.end();
  });

  test('if the seed, the secret, the mark or a file of the machine has other content', async () => {
    await writeFile(machine.seedFile, newSeedWords(), { mode: 0o600 });
    await expectRefused('restore_refused', 'It is not written over');
    await rm(machine.seedFile);
    await writeFile(machine.secretFile, Buffer.alloc(32, 9), { mode: 0o600 });
    await expectRefused('restore_refused', 'has another secret than the backup');
    await rm(machine.secretFile);
    await writeFile(`${machine.seedFile}.mark`, 'damaged', { mode: 0o600 });
    await expectRefused('restore_refused', '(wallet_mark_refused). Bring back the newest mark');
    const owner = (await readWallet(service.database.pool))!;
    await writeMark(`${machine.seedFile}.mark`, { ...owner, masterFingerprint: '00000000' }, endsAt(1));
    await expectRefused('restore_refused', '(wallet_mark_mismatch)');
    await rm(`${machine.seedFile}.mark`);
    const [name] = Object.keys(await contentsBelow(join(dir, 'files')));
    const path = join(machine.filesDir, name!);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'b');
    await expectRefused('restore_refused', 'is damaged: its bytes are not those of its name');
  });

  test('if the folder of the seed is missing', () =>
    expectRefused('restore_refused', 'make it first', {
      WALLET_SEED_FILE: join(machine.folder, 'none/seed'),
    }));

  test('if the files or the embedded database do not fit on their disk', async () => {
    const manifest = parseManifest(await readFile(join(dir, 'backup.json'), 'utf8'));
    const config = loadConfig({ env: { DATA_DIR: join(machine.folder, 'data') } });
    const refusal = {
      code: 'restore_refused',
      message: expect.stringMatching(/ free, and the restore needs 10\d{8} MB: make room/u) as string,
    };
    const files = { ...manifest.files, bytes: 1e15 };
    await expect(
      requireRoom(config, { ...manifest, files }, join(machine.filesDir, 'none')),
    ).rejects.toMatchObject(refusal);
    const tables = manifest.tables.map((table) =>
      table.name === 'orders' ? { ...table, textBytes: 1e15 / 4 } : table,
    );
    const large = { ...manifest, tables };
    await expect(requireRoom(config, large, machine.filesDir)).rejects.toMatchObject(refusal);
    // the disk of another server is unknown
    await requireRoom({ ...config, databaseUrl: machine.database.url }, large, machine.filesDir);
  });

  test('if no seed file is named', async () => {
    const { WALLET_SEED_FILE: _, ...env } = machine.env;
    await expect(runCommand(['restore', dir, '--without-node'], env)).rejects.toThrow('missing seed file');
  });

  test('if the node does not answer', async () => {
    const before = await stateOf();
    const env = { ...machine.env, BITCOIN_RPC_URL: 'http://127.0.0.1:9' };
    await expect(runCommand(['restore', dir], env)).rejects.toMatchObject({ code: 'node_unreachable' });
    expect(await stateOf()).toEqual(before);
  });
});

describe('a backup is refused, and leaves no folder', () => {
  const filesOf = () => contentsBelow(machine.folder);

  test.each<[string, string, () => Promise<Record<string, string>>]>([
    ['into a folder with a file', 'backup_exists', async () => ({})],
    [
      'into a file',
      'backup_exists',
      async () => {
        await rm(dir, { recursive: true });
        await writeFile(dir, 'a file');
        return {};
      },
    ],
    [
      'without a file that an order needs',
      'backup_incomplete',
      async () => {
        await rm(dir, { recursive: true });
        return { FILES_DIR: join(machine.folder, 'no files') };
      },
    ],
    [
      'with the seed of another wallet',
      'wallet_seed_mismatch',
      async () => {
        await rm(dir, { recursive: true });
        await writeFile(machine.seedFile, newSeedWords(), { mode: 0o600 });
        return { WALLET_SEED_FILE: machine.seedFile };
      },
    ],
    [
      'with a damaged mark',
      'wallet_mark_refused',
      async () => {
        await rm(dir, { recursive: true });
        await writeFile(machine.secretFile, 'no mark', { mode: 0o600 });
        return { WALLET_MARK_FILE: machine.secretFile };
      },
    ],
  ])('%s: %s', async (_, code, prepare) => {
    const env = { ...source, ...(await prepare()) };
    const before = await filesOf();
    await expect(runCommand(['backup', dir], env)).rejects.toMatchObject({ code });
    expect(await filesOf()).toEqual(before);
  });

  test('if a file that an order needs was changed, and names it', async () => {
    await rm(dir, { recursive: true });
    await cp(service.filesDir, machine.filesDir, { recursive: true });
    const [name] = Object.keys(await contentsBelow(machine.filesDir));
    await writeFile(join(machine.filesDir, name!), 'b');
    await expect(
      runCommand(['backup', dir], { ...source, FILES_DIR: machine.filesDir }),
    ).rejects.toMatchObject({
      code: 'backup_incomplete',
      message: expect.stringContaining(name!.slice(3)) as string,
    });
    const output = await runCommand(['backup', dir, '--without-missing-files'], {
      ...source,
      FILES_DIR: machine.filesDir,
    });
    expect(output).toContain('; 1 are missing, and rows need them');
  });

  test('if a wallet has no seed file, unless the seed is left out', async () => {
    await rm(dir, { recursive: true });
    const { WALLET_SEED_FILE: _, ...env } = source;
    await expect(runCommand(['backup', dir], env)).rejects.toThrow(
      'or leave the seed out with --without-seed',
    );
    const output = await runCommand(['backup', dir, '--without-seed'], env);
    expect(output).toContain('not in this backup (--without-seed)');
    expect(Object.keys(await contentsBelow(dir))).not.toContain('wallet.seed');
  });
});
