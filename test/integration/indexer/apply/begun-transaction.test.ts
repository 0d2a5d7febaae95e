import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import { networks } from '#kernel/primitives/network.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { parseFolder } from '#test/support/chain/overlapped-batches.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const golden = new GoldenChain('transfers-1');
let dir: string;
let database: TestDatabase;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-begun-'));
  golden.writeFolder(dir);
  database = await createTestDatabase();
  await pinFingerprintKey(database.pool, 'regtest');
});
afterAll(async () => {
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

test('a transaction that was begun for a refused block ends with the load', async () => {
  const blocks = await parseFolder(dir, golden.chain.tip);
  const session = await openChainSession(database.pool, 'regtest');
  onTestFinished(() => session.close());
  const status = (): string | null => session.writer.getTransactionStatus();
  const facts = {
    network: networks.regtest,
    islands: [],
    eventKinds,
    readBlock: () => Promise.reject(new Error('not asked for here')),
  };
  const writer = await BlockWriter.open({ session, facts });
  await writer.write(blocks.slice(0, 2), true);
  // a block that does not follow is refused while the blocks before it are being written
  const [next, other] = [blocks[2]!, blocks[3]!];
  const unlinked = { ...other, ref: { ...other.ref, height: next.ref.height } };
  await expect(writer.write([unlinked], true)).rejects.toMatchObject({ code: 'block_not_linked' });
  expect(status()).toBe('T');
  await writer.finish();
  expect(status()).toBe('I');
  const { rows } = await database.pool.query('SELECT tip_height FROM chain.state');
  expect(rows).toEqual([{ tip_height: 1 }]);
});
