import { strict as assert } from 'node:assert';
import type pg from 'pg';
import {
  outpointLength,
  outpointWords,
  readWords,
  type SatOutputs,
} from '#indexer/ledger/sats/sat-outputs.ts';
import type { SatState, SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import {
  type FingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { packedRangeLength, unpackPairs } from '#kernel/sats/packed-ranges.ts';
import { packedOutputs, writeOutpoint } from './sat-encoding.ts';

const hashLength = 32;
const headLength = 12;

/** Outpoints of rows as the columns of a statement: txids as one value of 32 bytes each, and vouts. */
export function outpointColumns(
  outputs: SatOutputs,
  rows: readonly number[],
): { readonly txids: Buffer; readonly vouts: Buffer } {
  const txids = Buffer.alloc(rows.length * hashLength + outpointLength - hashLength);
  const view = viewOf(txids);
  const vouts: number[] = [];
  // each txid is written as a whole outpoint, whose end the next txid overwrites
  for (const [at, row] of rows.entries()) {
    writeOutpoint(view, at * hashLength, outputs, row);
    vouts.push(view.getInt32((at + 1) * hashLength, true));
  }
  return {
    txids: txids.subarray(0, rows.length * hashLength),
    vouts: int4Array(vouts),
  };
}

/**
 * Adds the ranges of outputs to the state, if a block below a height made the output and no block has spent it. The
 * ranges arrive as one value.
 */
export async function askRanges(
  client: pg.ClientBase,
  { outputs }: SatState,
  asked: readonly number[],
  below: number,
): Promise<void> {
  if (asked.length === 0) return;
  const { txids, vouts } = outpointColumns(outputs, asked);
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
    const row = asked[found.readInt32BE(at) - 1];
    assert(row !== undefined, 'a place that was asked for');
    const height = found.readInt32BE(at + 4);
    const length = found.readInt32BE(at + 8);
    const count = length / packedRangeLength;
    outputs.give(row, height, { pairs: unpackPairs(found, at + headLength, count), first: 0, count });
    at += headLength + length;
  }
}

/**
 * Adds the outputs that the block at a height spent to the state. Returns false if they are no longer stored.
 *
 * @param key key of the fingerprints of outpoints
 */
export async function recallSpent(
  client: pg.ClientBase,
  state: SatState,
  height: number,
  key: FingerprintKey,
): Promise<boolean> {
  const { rows } = await client.query<{ outputs: Buffer }>(
    'SELECT outputs FROM chain.spent_sats WHERE height = $1',
    [height],
  );
  const packed = rows[0]?.outputs;
  if (packed === undefined) return false;
  const view = viewOf(packed);
  const words = new Int32Array(outpointWords);
  for (const { at, height: made, count, rangesAt } of packedOutputs(view)) {
    const row = state.askedOf(lowOf(view, at, key, words), words);
    if (row < 0) continue;
    state.outputs.give(row, made, { pairs: unpackPairs(packed, rangesAt, count), first: 0, count });
  }
  return true;
}

/** Reads the words of the outpoint at `at` into `words`. Returns the outpoint's fingerprint. */
export function lowOf(view: DataView, at: number, key: FingerprintKey, words: Int32Array): number {
  readWords(view, at, words, outpointWords);
  fingerprintOutpoint(view, at, key);
  return fingerprint.low | 0;
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
