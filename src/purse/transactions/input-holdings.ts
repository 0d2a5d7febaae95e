import type pg from 'pg';
import { type HeldRow, heldBy, heldColumns, heldTable } from '#chain/outputs/received-output.queries.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { outpointOf } from './outpoint.ts';
import { holdingsOf, type StoredHoldings } from './stored-holdings.ts';

/**
 * Contents of outputs that transactions of this round created, by `<txid>:<vout>`. The index and the tables do not have
 * these outputs yet.
 */
export type MadeHoldings = ReadonlyMap<string, Holdings>;

export interface AskedOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Uint8Array;
}

/**
 * Reads the contents of the wallet's outputs in addition to their sats, in the same order. The contents never come from
 * a planner. They come from this round's own transactions, or else from the index. For transactions that the index does
 * not have, they come from stored plans. Runs at most one statement. An anchor of an earlier round holds nothing,
 * because the wallet signs nothing that puts contents there.
 */
export async function readHoldings(
  tx: pg.Pool | pg.ClientBase,
  outputs: readonly AskedOutput[],
  made: MadeHoldings = new Map(),
): Promise<Holdings[]> {
  const isAsked = (output: AskedOutput): boolean =>
    !made.has(outpointOf(output)) && scriptType(output.script) !== 'p2a';
  const asked = outputs.filter(isAsked);
  const found = asked.length === 0 ? [] : await readStored(tx, asked);
  const known = new Map(asked.map((output, place) => [output, found[place] ?? nothingHeld]));
  return outputs.map((output) => made.get(outpointOf(output)) ?? known.get(output) ?? nothingHeld);
}

async function readStored(tx: pg.Pool | pg.ClientBase, outputs: readonly AskedOutput[]): Promise<Holdings[]> {
  const { rows } = await tx.query<HeldRow & { stored: StoredHoldings | null }>(holdingsSql, [
    outputs.map(({ txid }) => Buffer.from(txid)),
    outputs.map(({ vout }) => vout),
    outputs.map(({ script }) => Buffer.from(script)),
  ]);
  return rows.map(({ stored, ...row }) => together(heldBy(row), holdingsOf(stored)));
}

/**
 * Merges contents from the index and from a stored plan. The contents from the index take precedence. The plan adds
 * contents that the index does not have yet.
 */
function together(indexed: ReturnType<typeof heldBy>, { inscriptions, runes }: Holdings): Holdings {
  const ids = new Set(indexed.inscriptions.map(({ id }) => id));
  return {
    inscriptions: [...indexed.inscriptions, ...(inscriptions ?? []).filter(({ id }) => !ids.has(id))],
    runes: indexed.runes?.length === 0 ? runes : indexed.runes,
  };
}

const holdingsSql = `WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) WITH ORDINALITY AS a (txid, vout, script, ordinal)),
  ${heldTable('asked')}
  SELECT ${heldColumns}, t.plan->'outputs'->o.vout::integer->'holds' AS stored
    FROM asked AS o
    LEFT JOIN held AS h ON h.txid = o.txid AND h.vout = o.vout
    LEFT JOIN service.wallet_transactions AS t ON t.txid = o.txid
   ORDER BY o.ordinal`;
