import type pg from 'pg';
import { asBlockHash, displayHash, parseBlockHash, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { SatRange } from '#kernel/satributes/satribute.ts';
import { type ListedOutput, outpointText } from '#utxos/utxo.ts';

/** An output of the inventory, as it was when it was last looked at. */
export interface InventoryOutput extends Omit<ListedOutput, 'blockTime'> {
  readonly ranges: readonly SatRange[];
  readonly addedAt: Date;
}

interface Row {
  readonly txid: Buffer;
  readonly vout: number;
  readonly value: Sats;
  readonly script: Buffer;
  readonly height: Height;
  readonly block_hash: Buffer;
  readonly ranges: number[];
  readonly added_at: Date;
}

/** All of the inventory, by outpoint; at most `limit` rows. */
export async function inventoryOutputs(db: pg.Pool, limit: number): Promise<InventoryOutput[]> {
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM service.inventory_outputs ORDER BY txid, vout LIMIT $1`,
    [limit],
  );
  return rows.map(outputOf);
}

const columns = 'txid, vout, value, script, height, block_hash, ranges::text[] AS ranges, added_at';

const outputOf = (row: Row): InventoryOutput => ({
  txid: trustedTxid(row.txid),
  vout: row.vout,
  value: row.value,
  script: row.script,
  height: row.height,
  blockHash: displayHash(asBlockHash(row.block_hash)),
  ranges: pairsOf(row.ranges.map(Number)),
  addedAt: row.added_at,
});

/**
 * Outputs of the inventory that orders have, as `<txid>:<vout>`. Rows of delivered ones stay, so the list comes first.
 */
export async function reservedOutpoints(db: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ txid: Buffer; vout: number }>(
    `SELECT txid, vout FROM service.inventory_outputs JOIN service.reserved_outputs AS r USING (txid, vout)
      WHERE r.released_at IS NULL`,
  );
  return new Set(rows.map(({ txid, vout }) => outpointText(displayHash(trustedTxid(txid)), vout)));
}

/** One of them; null: it is not there. */
export async function inventoryOutput(
  db: pg.ClientBase,
  { txid, vout }: Pick<InventoryOutput, 'txid' | 'vout'>,
): Promise<InventoryOutput | null> {
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM service.inventory_outputs WHERE txid = $1 AND vout = $2`,
    [Buffer.from(txid), vout],
  );
  return rows[0] === undefined ? null : outputOf(rows[0]);
}

/** Adds an output, or what is known of it now. Whether it is new. */
export async function putInventoryOutput(
  db: pg.Pool | pg.ClientBase,
  { txid, vout, value, script, height, blockHash, ranges }: Omit<InventoryOutput, 'addedAt'>,
): Promise<boolean> {
  const { rows } = await db.query<{ is_new: boolean }>(
    `INSERT INTO service.inventory_outputs (txid, vout, value, script, height, block_hash, ranges)
     VALUES ($1, $2, $3, $4, $5, $6, $7::bigint[])
     ON CONFLICT (txid, vout) DO UPDATE SET height = excluded.height, block_hash = excluded.block_hash,
       ranges = excluded.ranges
     RETURNING xmax = 0 AS is_new`,
    [
      Buffer.from(txid),
      vout,
      value,
      Buffer.from(script),
      height,
      Buffer.from(parseBlockHash(blockHash) ?? []),
      ranges.flatMap(({ start, end }) => [start, end]),
    ],
  );
  return rows[0]?.is_new ?? false;
}

/** Whether it was there. */
export async function removeInventoryOutput(
  db: pg.Pool | pg.ClientBase,
  { txid, vout }: Pick<InventoryOutput, 'txid' | 'vout'>,
): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM service.inventory_outputs WHERE txid = $1 AND vout = $2', [
    Buffer.from(txid),
    vout,
  ]);
  return rowCount === 1;
}

function pairsOf(edges: readonly number[]): SatRange[] {
  const ranges: SatRange[] = [];
  for (let place = 0; place + 1 < edges.length; place += 2)
    ranges.push({ start: edges[place] ?? 0, end: edges[place + 1] ?? 0 });
  return ranges;
}
