import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseFolder } from '#test/support/database-folder.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoind } from './follow/follow-bench.ts';

/** Measures with a new node and a folder for databases. Both are removed afterwards. */
export async function withBenchNode<Measured>(
  bench: string,
  measure: (node: Bitcoind, dir: string) => Promise<Measured>,
): Promise<Measured> {
  const dir = await mkdtemp(join(databaseFolder(), `satscribe-bench-${bench}-`));
  // if root runs this, the database runs as an ordinary account, which must be able to reach the folder
  await chmod(dir, 0o755);
  const node = await startBitcoind({ executable: bitcoind() });
  try {
    return await measure(node, dir);
  } finally {
    await node.remove();
    await rm(dir, { recursive: true, force: true });
  }
}
