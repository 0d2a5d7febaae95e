import type { ClientBase } from 'pg';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { isWholeScript } from '#kernel/bitcoin/stored-owner.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Outpoint, TransactionPlace } from './output.queries.ts';

/** An unspent output that holds runes. Its value is missing, because balances do not have it. */
export interface RunicOutput {
  /** The script. `null` if only its beginning is stored. */
  readonly script: Uint8Array | null;
  readonly transaction: TransactionPlace;
}

/**
 * Whether balances can be found by their outputs. During a first load the index is missing, so all balances would be
 * read.
 */
export async function canProbeRunes(client: ClientBase): Promise<boolean> {
  const index = 'rune_balances_outpoint';
  return (await builtIndexes(client, [index])).has(index);
}

/**
 * Unspent outputs from balances of runes, by their index in the query. Costs one index look-up for each output. Use it
 * only for outputs in which `runesOfOutputs` has found runes, in the same snapshot.
 */
export async function runicOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
): Promise<Map<number, RunicOutput>> {
  const { rows } = await client.query<{
    place: number;
    height: Height;
    index: number;
    script: Buffer;
    hash: BlockHash;
  }>(
    `SELECT asked.place - 1 AS place, found.height, found.index, found.script, b.hash
     FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked(txid, vout, place), LATERAL (
       SELECT height, tx_index AS index, script FROM chain.rune_balances
       WHERE chain.hash64(txid, vout) = chain.hash64(asked.txid, asked.vout)
         AND spent_height IS NULL AND txid = asked.txid AND vout = asked.vout
       LIMIT 1
     ) AS found JOIN chain.blocks b ON b.height = found.height`,
    [outpoints.map(({ txid }) => Buffer.from(txid)), outpoints.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ place, height, index, script, hash }) => [
      place,
      {
        script: isWholeScript(script) ? script : null,
        transaction: { height, blockHash: hash, index },
      },
    ]),
  );
}
