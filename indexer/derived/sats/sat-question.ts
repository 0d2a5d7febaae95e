import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { outpointLength } from '#indexer/ledger/sats/outpoint-name.ts';
import type { SatState, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { packedRangeLength, unpackPairs } from '#kernel/sats/packed-ranges.ts';
import { unpackOutputs } from './sat-encoding.ts';

const hashLength = 32;
const headLength = 12;

/** Outpoints by their names, as the columns of a statement: 32 bytes of txid each in one value, and vouts. */
export function outpointColumns(names: readonly string[]): {
  readonly txids: Buffer;
  readonly vouts: Buffer;
} {
  const txids = Buffer.alloc(names.length * hashLength);
  const vouts: number[] = [];
  const outpoint = Buffer.alloc(outpointLength);
  for (const [at, name] of names.entries()) {
    outpoint.write(name, 'latin1');
    outpoint.copy(txids, at * hashLength, 0, hashLength);
    vouts.push(outpoint.readInt32LE(hashLength));
  }
  return { txids, vouts: int4Array(vouts, Uint32Array.from(vouts.keys())) };
}

/**
 * Tells the state the ranges of outputs, as far as blocks below a height made them and no block has spent them. Arrives
 * as one value.
 */
export async function askRanges(
  client: pg.ClientBase,
  names: readonly string[],
  below: number,
  state: SatState,
): Promise<void> {
  if (names.length === 0) return;
  const { txids, vouts } = outpointColumns(names);
  const { rows } = await client.query<{ found: Buffer }>(
    `SELECT coalesce(string_agg(int4send(asked.place::integer) || int4send(r.height) || int4send(length(r.ranges))
       || r.ranges, ''::bytea), ''::bytea) AS found
     FROM (
       SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, place
       FROM unnest($2::integer[]) WITH ORDINALITY AS given(vout, place)
     ) AS asked
     JOIN chain.sat_ranges r ON chain.hash64(r.txid, r.vout) = chain.hash64(asked.txid, asked.vout)
       AND r.txid = asked.txid AND r.vout = asked.vout
     WHERE r.height < $3`,
    [txids, vouts, below],
  );
  const found = rows[0]?.found;
  assert(found !== undefined, 'an aggregate has one row');
  for (let at = 0; at < found.length; ) {
    const name = names[found.readInt32BE(at) - 1];
    assert(name !== undefined, 'a place that was asked for');
    const height = found.readInt32BE(at + 4);
    const length = found.readInt32BE(at + 8);
    const count = length / packedRangeLength;
    state.learn(name, { height, pairs: unpackPairs(found, at + headLength, count), first: 0, count });
    at += headLength + length;
  }
}

/** Tells the state what the block at a height spent. False: that is not kept any more. */
export async function recallSpent(client: pg.ClientBase, height: number, state: SatState): Promise<boolean> {
  const { rows } = await client.query<{ outputs: Buffer }>(
    'SELECT outputs FROM chain.spent_sats WHERE height = $1',
    [height],
  );
  const [row] = rows;
  if (row === undefined) return false;
  for (const { name, held } of unpackOutputs(row.outputs)) state.learn(name, held);
  return true;
}

/** The totals after the blocks below a height. */
export async function readSatTotals(client: pg.ClientBase, below: number): Promise<SatTotals> {
  const { rows } = await client.query<{ lost_sats: number; replaced_sats: number }>(
    'SELECT lost_sats, replaced_sats FROM chain.lost_sats WHERE height < $1 ORDER BY height DESC LIMIT 1',
    [below],
  );
  const [row] = rows;
  return { lostSats: row?.lost_sats ?? 0, replacedSats: row?.replaced_sats ?? 0 };
}
