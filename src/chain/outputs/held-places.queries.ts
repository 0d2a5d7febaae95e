import type { ClientBase } from 'pg';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Outpoint } from './output.queries.ts';

/** An inscription and its place in the output that holds it. */
export interface PlacedInscription {
  readonly id: InscriptionId;
  /** Sats of the output before its own. */
  readonly offset: number;
}

/** More would be a curiosity that no one sends by a PSBT. */
const placedMax = 1_000;

/**
 * The inscriptions of an unspent output by their places, then in the order of application; the first thousand.
 *
 * @param fingerprint that of the outpoint, as Postgres writes a bigint
 */
export async function inscriptionsInOutput(
  client: ClientBase,
  { txid, vout }: Outpoint,
  fingerprint: string,
): Promise<PlacedInscription[]> {
  const { rows } = await client.query<{
    txid: InscriptionId['txid'];
    index: number;
    sat_offset: number;
  }>(
    `SELECT i.txid, i.index, l.sat_offset
     FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
     WHERE l.outpoint_fingerprint = $3 AND l.spent_height IS NULL AND l.vout = $2 AND l.place = 0
       AND coalesce(l.txid, i.txid) = $1
     ORDER BY l.sat_offset, l.key LIMIT $4`,
    [Buffer.from(txid), vout, fingerprint, placedMax],
  );
  return rows.map(({ txid: of, index, sat_offset: offset }) => ({ id: { txid: of, index }, offset }));
}
