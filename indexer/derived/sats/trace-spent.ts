import type pg from 'pg';
import {
  joinRanges,
  type LeftByBlock,
  openPlaces,
  type RestoredOutput,
  restoreSpent,
} from '#indexer/ledger/sats/restore-spent.ts';
import { outpointWords, readWords, SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { displayHash, parseTxid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { packOutputs } from './sat-encoding.ts';

const hashLength = 32;

/**
 * Rebuilds the row of `chain.spent_sats` of the block at the tip. The row's sats are the sats that the block left, in
 * the order of its transactions. The past shows whether neighbouring ranges were cut before. Throws as `PastChain`
 * does.
 */
export async function traceSpent(
  client: pg.ClientBase,
  ref: BlockRef,
  past: PastChain,
  signal?: AbortSignal,
): Promise<void> {
  const transactions = await past.transactions(ref, signal);
  const spent = restoreSpent(ref.height, transactions, await leftBy(client, ref.height));
  const cuts = await past.cuts(openPlaces(spent), signal);
  await client.query('INSERT INTO chain.spent_sats (height, outputs) VALUES ($1, $2)', [
    ref.height,
    Buffer.from(packSpent(joinRanges(spent, cuts))),
  ]);
}

async function leftBy(client: pg.ClientBase, height: Height): Promise<LeftByBlock> {
  const { rows } = await client.query<{ txid: Buffer; vout: number; ranges: Buffer }>(
    'SELECT txid, vout, ranges FROM chain.sat_ranges WHERE height = $1',
    [height],
  );
  const lost = await client.query<{ ranges: Buffer }>(
    'SELECT ranges FROM chain.lost_sats WHERE height = $1',
    [height],
  );
  const outputs = new Map<string, readonly SatRange[]>();
  for (const { txid, vout, ranges } of rows)
    outputs.set(`${displayHash(trustedTxid(txid))}:${vout}`, unpackRanges(ranges));
  return {
    of: (txid, vout) => outputs.get(`${txid}:${vout}`),
    lost: lost.rows[0] === undefined ? [] : unpackRanges(lost.rows[0].ranges),
  };
}

/** Packs spent outputs as `applySats` would have left them. */
function packSpent(spent: readonly RestoredOutput[]): Uint8Array {
  const outputs = new SatOutputs(Math.max(spent.length, 1));
  const words = new Int32Array(outpointWords);
  const outpoint = Buffer.alloc(hashLength + 4);
  const rows = spent.map(({ output: { txid, vout, height }, ranges }, place) => {
    outpoint.set(parseTxid(txid) ?? []);
    outpoint.writeInt32LE(vout, hashLength);
    readWords(viewOf(outpoint), 0, words, outpointWords);
    // these rows are never searched, so any fingerprint is good
    const row = outputs.add(place, words, height);
    const pairs = Float64Array.from(ranges.flatMap(({ start, end }) => [start, end]));
    outputs.give(row, height, { pairs, first: 0, count: ranges.length });
    return row;
  });
  return packOutputs(outputs, rows);
}
