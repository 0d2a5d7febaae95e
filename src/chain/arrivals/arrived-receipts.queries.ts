import type { ClientBase } from 'pg';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';

/** Something that an output with a watched script received. */
export interface ArrivedReceipt {
  readonly script: Buffer;
  readonly txid: Txid;
  readonly vout: number;
  /** An inscription id, a rune id, or null for the sats of the output. */
  readonly inscription: string | null;
  readonly rune: string | null;
  /** Sats of an output, or base units of a rune in digits. Null for an inscription. */
  readonly amount: string | null;
}

interface Row {
  readonly script: Buffer;
  readonly txid: Txid;
  readonly vout: number;
  readonly revealTxid: Txid | null;
  readonly index: number | null;
  readonly rune: string | null;
  readonly amount: string | null;
}

const receiptOf = ({ revealTxid, index, ...row }: Row): ArrivedReceipt => ({
  ...row,
  inscription: revealTxid === null || index === null ? null : formatInscriptionId(revealTxid, index),
});

/**
 * Inscriptions, runes and outputs that scripts receive in a block. Outputs are known if the index has addresses, and
 * runes if the index has runes.
 */
export async function readArrivedReceipts(
  client: ClientBase,
  { height, first, next }: { readonly height: number; readonly first: number; readonly next: number },
  scripts: readonly Buffer[],
): Promise<ArrivedReceipt[]> {
  if (scripts.length === 0) return [];
  // an inscription that moves leaves a location that the block spends, because locations have no index of heights
  const { rows } = await client.query<Row>(
    `WITH moved AS (
       SELECT key FROM chain.inscriptions WHERE key >= $2 AND key < $3
       UNION SELECT key FROM chain.locations WHERE spent_height = $1)
     SELECT l.script, coalesce(l.txid, i.txid) AS txid, l.vout, i.txid AS "revealTxid", i.index, NULL AS rune,
            NULL AS amount
       FROM moved JOIN chain.locations AS l USING (key) JOIN chain.inscriptions AS i USING (key)
      WHERE l.height = $1 AND l.vout IS NOT NULL AND l.script = ANY($4)
     UNION ALL
     SELECT b.script, b.txid, b.vout, NULL, NULL, r.height || ':' || r.tx_index, b.amount::text
       FROM chain.rune_balances AS b JOIN chain.runes AS r ON r.key = b.rune_key
      WHERE b.height = $1 AND b.script = ANY($4)
     UNION ALL
     SELECT script, txid, vout, NULL, NULL, NULL, value::text FROM chain.outputs WHERE height = $1 AND script = ANY($4)`,
    [height, first, next, scripts],
  );
  return rows.map(receiptOf);
}

/** Inscriptions and runes that scripts receive in pending transactions at positions above `after`. */
export async function readPendingReceipts(
  client: ClientBase,
  after: number,
  scripts: readonly Buffer[],
): Promise<ArrivedReceipt[]> {
  if (scripts.length === 0) return [];
  const { rows } = await client.query<Row>(
    `SELECT t.script, t.txid, t.vout, t.inscription_txid AS "revealTxid", t.inscription_index AS index, NULL AS rune,
            NULL AS amount
       FROM chain.pending_transfers AS t
      WHERE t.position > $1 AND t.vout IS NOT NULL AND t.script = ANY($2)
     UNION ALL
     SELECT i.script, i.txid, i.vout, i.txid, i.index, NULL, NULL
       FROM chain.pending_inscriptions AS i
      WHERE i.position > $1 AND i.vout IS NOT NULL AND i.script = ANY($2)
     UNION ALL
     SELECT m.script, t.txid, m.vout, NULL, NULL, r.height || ':' || r.tx_index, sum(m.amount)::text
       FROM chain.mempool_runes AS m JOIN chain.pending_rune_transactions AS t USING (position)
       JOIN chain.runes AS r ON r.key = m.rune_key
      WHERE m.position > $1 AND m.step = 1 AND m.script = ANY($2)
      GROUP BY m.script, t.txid, m.vout, r.height, r.tx_index`,
    [after, scripts],
  );
  return rows.map(receiptOf);
}

/** The name of a receipt: the outpoint and what was received. */
export const receiptThing = ({ txid, vout, inscription, rune }: ArrivedReceipt): string =>
  `${displayHash(txid)}:${vout} ${inscription ?? (rune === null ? 'sats' : `rune ${rune}`)}`;
