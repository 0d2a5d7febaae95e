import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { outpointColumns } from './sat-question.ts';

const hashLength = 32;

/**
 * Deletes the rows of outputs of earlier batches that a batch spends, in one statement: a twin of a coinbase has its
 * outpoint, and another height.
 */
export async function deleteSpent(
  tx: pg.ClientBase,
  outputs: SatOutputs,
  rows: readonly number[],
): Promise<void> {
  if (rows.length === 0) return;
  const { txids, vouts } = outpointColumns(outputs, rows);
  const heights = int4Array(rows.map((row) => outputs.heightOf(row)));
  const { rowCount } = await tx.query(
    `DELETE FROM chain.sat_ranges r
     USING (
       SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, height
       FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS given(vout, height, place)
     ) AS gone
     WHERE chain.hash64(r.txid, r.vout) = chain.hash64(gone.txid, gone.vout)
       AND r.txid = gone.txid AND r.vout = gone.vout AND r.height = gone.height`,
    [txids, vouts, heights],
  );
  assert(rowCount === rows.length, 'an output that is spent has its ranges');
}
