import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { rowsByTable, withoutIndices } from '#test/support/backups/machine.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';
import { bringToTheirEnds } from '#test/support/orders/saved/orders-to-their-ends.ts';
import { readSaved, type SavedService } from '#test/support/orders/saved/saved-service.ts';
import type { CliResult } from '#test/support/run-cli.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { readMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';
import { readWallet } from '#wallet/wallet.store.ts';

const runMs = 900_000;
const skipped = 1_000_000;
const fixture = fileURLToPath(new URL('../../fixtures/orders/service-0040.json.gz', import.meta.url));

/** The last lines of a failed command. */
const failureOf = ({ exitCode, stderr }: CliResult): string | null =>
  exitCode === 0 ? null : stderr.slice(-1000);

describe.skipIf(bitcoindForTests() === null)('a service with orders in every state', () => {
  let saved: SavedService;
  let lost: OrderService;
  let restored: OrderService;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'satscribe-backups-'));
    saved = await readSaved(fixture);
    lost = await OrderService.saved(saved, { INDEX_SATS: 'true' });
    // a saved service has no files
    const files = new CustomerFiles(lost.places['FILES_DIR']!);
    for (const { contents } of Object.values(saved.orders))
      for (const content of contents) await files.put(Buffer.from(content));
    // migrates it to this version
    await lost.begin();
    restored = await lost.emptyElsewhere();
  }, runMs);
  afterAll(async () => {
    await restored?.close();
    await lost?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const addressesOf = async ({ database }: OrderService): Promise<Set<string>> => {
    const { rows } = await database.pool.query<{ script: string }>(
      `SELECT encode(script, 'hex') AS script FROM service.orders`,
    );
    return new Set(rows.map(({ script }) => script));
  };

  async function orderedAt(service: OrderService): Promise<string> {
    const content = Buffer.from('new').toString('base64');
    const answer = await service.post('/inscribe', {
      files: [{ name: 'a.txt', size: 3, dataURL: `data:text/plain;base64,${content}` }],
      receiveAddress: addressOf(90_000),
      fee: 2,
    });
    const { id } = (await answer.json()) as OrderShown;
    return (await service.order(id)).charge.address;
  }

  test(
    'is lost and restored from its backup: each order gets its payment and ends as it would have',
    async () => {
      const dir = join(folder, 'backup');
      // beside the running service
      const beside = await lost.command(['backup', join(folder, 'beside'), '--json']);
      expect(failureOf(beside)).toBeNull();
      await lost.kill();
      const before = await rowsByTable(lost.database.pool);
      const made = await lost.command(['backup', dir]);
      expect(failureOf(made)).toBeNull();
      expect(await rowsByTable(lost.database.pool)).toEqual(before);

      // payments that no process sees: of an old order, and of an address that the backup does not know
      const [name, unpaid] = Object.entries(saved.orders).find(([, { todo }]) => todo > 0)!;
      await lost.chain.pay(Buffer.from(unpaid.address, 'hex'), unpaid.todo);
      const wallet = (await openPublicWallet(lost.database.pool))!;
      const owner = (await readWallet(lost.database.pool))!;
      const marked: BranchEnds = (await readMark(`${lost.seedFile}.mark`, owner))!;
      const shown = marked.orders + 1500;
      await lost.chain.pay(Buffer.from(wallet.orderAddress(shown, null).script), 20_000);
      await lost.chain.mineMempool();

      const result = await restored.command(['restore', dir, '--gap', '2000', '--json']);
      expect(failureOf(result)).toBeNull();
      expect(withoutIndices(await rowsByTable(restored.database.pool))).toEqual(withoutIndices(before));
      const expected = {
        orders: shown + 1 + skipped,
        own: marked.own + skipped,
        fees: marked.fees + skipped,
      };
      expect(JSON.parse(result.stdout)).toMatchObject({ next: expected, isChainAsked: true, hasSeed: true });
      expect(await readMark(`${restored.seedFile}.mark`, owner)).toEqual(expected);
      expect(await readRelease(restored.database.pool)).toMatchObject({ next: expected, isLive: false });

      await restored.begin();
      // refunds and returns wait for the release
      await restored.eventually(
        async () => (await restored.command(['payouts', 'release', '--yes'])).exitCode === 0,
      );
      await bringToTheirEnds(restored, {
        ...saved,
        orders: { ...saved.orders, [name]: { ...unpaid, todo: 0 } },
      });
      // new addresses begin beyond everything that was shown
      const known = await addressesOf(restored);
      const first = await orderedAt(restored);
      const now = await addressesOf(restored);
      expect(now.size).toBe(known.size + 1);
      const { rows } = await restored.database.pool.query<{ key_index: number }>(
        'SELECT key_index FROM service.orders ORDER BY key_index DESC LIMIT 1',
      );
      expect(rows[0]!.key_index).toBeGreaterThanOrEqual(expected.orders);
      expect(first).not.toBe('');
    },
    runMs,
  );
});
