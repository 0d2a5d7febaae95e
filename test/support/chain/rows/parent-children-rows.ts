import type pg from 'pg';
import type { DerivedBlock } from '#indexer/derived/derived-table.ts';
import { parentChildren } from '#indexer/derived/parent-children/parent-children.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';

/** A child and its parent, by their keys. */
export interface Child {
  readonly child: number;
  readonly parent: number;
}

/** Counts children in one batch, like the writer does after it has written `chain.parents`. Ascending by child. */
export async function countChildren(pool: pg.Pool, children: readonly Child[]): Promise<void> {
  const chain = {
    network: networks.regtest,
    fingerprintKey: expandFingerprintKey(new Uint8Array(32)),
    readBlock: () => Promise.reject(new Error('it reads no block')),
  };
  const rows = parentChildren.begin([], { chain, memory: null });
  rows.add(blockOf(children));
  const client = await pool.connect();
  try {
    await withTransaction(client, async (tx) => rows.write?.(tx));
  } finally {
    client.release();
  }
}

/** Subtracts the children with this key or a higher one, before their rows are deleted. */
export async function discountChildren(tx: pg.ClientBase, firstKey: number): Promise<void> {
  await parentChildren.undo(tx, {
    ref: { height: genesisHeight, hash: asBlockHash(new Uint8Array(32)) },
    firstKey,
  });
}

/** A block that contains only these children, which is enough to count them. */
function blockOf(children: readonly Child[]): DerivedBlock {
  const firstKey = children[0]?.child ?? 0;
  const nextKey = (children.at(-1)?.child ?? -1) + 1;
  const count = nextKey - firstKey;
  const firstParent = new Uint32Array(count + 1);
  for (const { child } of children) firstParent[child - firstKey + 1]! += 1;
  for (let row = 0; row < count; row++) firstParent[row + 1]! += firstParent[row]!;
  const parentKey = Int32Array.from(children, ({ parent }) => parent);
  const ledger = { inscriptions: { firstParent, parentKey, firstKey, count }, counters: { nextKey } };
  return { ledger } as unknown as DerivedBlock;
}
