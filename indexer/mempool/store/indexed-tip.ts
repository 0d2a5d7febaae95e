import type pg from 'pg';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

export interface IndexedTip {
  /** Key of the fingerprints of outpoints. */
  readonly key: Uint8Array;
  /** Null: nothing is indexed yet. */
  readonly tip: { readonly height: Height; readonly hash: HashKey } | null;
  /** True if all runes at the tip are known. */
  readonly knowsRunes: boolean;
  /** True if all sales up to the tip are known. A mined sale moves from the pending rows to the index. */
  readonly knowsSales: boolean;
}

/** The indexed tip. Throws `network_mismatch`, and `mempool_waits_for_index` if there is no index. */
export async function readIndexedTip(pool: pg.Pool, network: NetworkName): Promise<IndexedTip> {
  const { rows } = await pool.query<{
    network: string;
    key: Buffer;
    height: Height | null;
    hash: BlockHash | null;
    knows_runes: boolean;
    knows_sales: boolean;
  }>(
    `SELECT network, fingerprint_key AS key, tip_height AS height, tip_hash AS hash,
       EXISTS (SELECT FROM chain.derived_tables WHERE name = 'runes' AND is_followed)
         AND coalesce((SELECT anchored FROM chain.rune_blocks ORDER BY height DESC LIMIT 1), true) AS knows_runes,
       EXISTS (SELECT FROM chain.derived_tables WHERE name = 'sales' AND is_followed) AS knows_sales
     FROM chain.state`,
  );
  const row = rows[0];
  if (row !== undefined && row.network !== network) {
    throw new AppError(
      'network_mismatch',
      `The node is on ${network}, but this database serves ${row.network}.`,
      { source: network, database: row.network },
    );
  }
  if (row === undefined) {
    throw new AppError('mempool_waits_for_index', 'The index of this network does not exist yet.');
  }
  const tip =
    row.height === null || row.hash === null ? null : { height: row.height, hash: hashKey(row.hash) };
  return { key: Uint8Array.from(row.key), tip, knowsRunes: row.knows_runes, knowsSales: row.knows_sales };
}
