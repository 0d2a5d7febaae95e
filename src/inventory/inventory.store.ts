import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { asBlockHash, displayHash, parseBlockHash, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { type ListedOutput, outpointText } from '#utxos/utxo.ts';

/** An output of the inventory, with the data from its last examination. */
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

/** At most `limit` outputs of the inventory, sorted by outpoint. */
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
 * Outputs of the inventory that orders have reserved, as `<txid>:<vout>`. The query begins with the inventory, because
 * reservations of delivered orders are never deleted.
 */
export async function reservedOutpoints(db: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ txid: Buffer; vout: number }>(
    `SELECT txid, vout FROM service.inventory_outputs JOIN service.reserved_outputs AS r USING (txid, vout)
      WHERE r.released_at IS NULL`,
  );
  return new Set(rows.map(nameOfRow));
}

const nameOfRow = ({ txid, vout }: Pick<Row, 'txid' | 'vout'>): string =>
  outpointText(displayHash(trustedTxid(txid)), vout);

/** Returns those of the given outputs that are in the inventory. */
export async function inventoryOutputsAt(
  db: pg.Pool | pg.ClientBase,
  outpoints: readonly Outpoint[],
): Promise<InventoryOutput[]> {
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM service.inventory_outputs WHERE (txid, vout) IN (SELECT * FROM ${outpointRows})`,
    outpointColumns(outpoints),
  );
  return rows.map(outputOf);
}

const outpointRows = 'unnest($1::bytea[], $2::bigint[])';

const outpointColumns = (outpoints: readonly Outpoint[]): unknown[] => [
  outpoints.map(({ txid }) => Buffer.from(txid)),
  outpoints.map(({ vout }) => vout),
];

/**
 * Adds outputs in one statement. Known outputs get the new block and sats. All outpoints must be different. Returns the
 * added outputs, as `<txid>:<vout>`.
 */
export async function putInventoryOutputs(
  db: pg.Pool | pg.ClientBase,
  outputs: readonly Omit<InventoryOutput, 'addedAt'>[],
): Promise<Set<string>> {
  if (outputs.length === 0) return new Set();
  const { rows } = await db.query<{ txid: Buffer; vout: number; is_new: boolean }>(
    `INSERT INTO service.inventory_outputs (txid, vout, value, script, height, block_hash, ranges)
     SELECT o.txid, o.vout, o.value, o.script, o.height, o.block_hash, o.ranges::bigint[]
       FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[], $5::integer[], $6::bytea[], $7::text[])
            AS o (txid, vout, value, script, height, block_hash, ranges)
     ON CONFLICT (txid, vout) DO UPDATE SET height = excluded.height, block_hash = excluded.block_hash,
       ranges = excluded.ranges
     RETURNING txid, vout, xmax = 0 AS is_new`,
    [
      ...outpointColumns(outputs),
      outputs.map(({ value }) => value),
      outputs.map(({ script }) => Buffer.from(script)),
      outputs.map(({ height }) => height),
      outputs.map(({ blockHash }) => Buffer.from(parseBlockHash(blockHash) ?? [])),
      outputs.map(({ ranges }) => `{${ranges.flatMap(({ start, end }) => [start, end]).join()}}`),
    ],
  );
  return new Set(rows.filter(({ is_new: isNew }) => isNew).map(nameOfRow));
}

/** Removes an output. Returns whether the output was in the inventory. */
export async function removeInventoryOutput(
  db: pg.Pool | pg.ClientBase,
  outpoint: Outpoint,
): Promise<boolean> {
  return (await removeInventoryOutputs(db, [outpoint])) === 1;
}

/** Removes outputs in one statement. Returns how many of them were in the inventory. */
export async function removeInventoryOutputs(
  db: pg.Pool | pg.ClientBase,
  outpoints: readonly Outpoint[],
): Promise<number> {
  if (outpoints.length === 0) return 0;
  const { rowCount } = await db.query(
    `DELETE FROM service.inventory_outputs WHERE (txid, vout) IN (SELECT * FROM ${outpointRows})`,
    outpointColumns(outpoints),
  );
  return rowCount ?? 0;
}

function pairsOf(edges: readonly number[]): SatRange[] {
  const ranges: SatRange[] = [];
  for (let place = 0; place + 1 < edges.length; place += 2)
    ranges.push({ start: edges[place] ?? 0, end: edges[place + 1] ?? 0 });
  return ranges;
}
