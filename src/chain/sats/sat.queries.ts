import type { ClientBase } from 'pg';
import { lostOutpoint } from '#chain/inscriptions/location.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sat } from '#kernel/sats/sat.ts';

/** Inscriptions on a sat, in the order of application. `first` counts from the end if `fromEnd` is set. */
export async function inscriptionsOnSat(
  client: ClientBase,
  sat: number,
  { first, limit, fromEnd = false }: { first: number; limit: number; fromEnd?: boolean },
): Promise<InscriptionKey[]> {
  const { rows } = await client.query<{ key: InscriptionKey }>(
    `SELECT key FROM chain.sats WHERE sat = $1 ORDER BY key ${fromEnd ? 'DESC' : 'ASC'} LIMIT $2 OFFSET $3`,
    [sat, limit, first],
  );
  return rows.map(({ key }) => key);
}

/** Location of a sat that is not common. */
export interface RareSatPlace {
  readonly sat: Sat;
  /** The output that contains the sat. `null` if the sat is lost. */
  readonly output: { readonly txid: Txid; readonly vout: number } | null;
  /** The satpoint as ord writes it. */
  readonly satpoint: string;
}

interface PlaceRow {
  sat: Sat;
  sat_offset: number;
  vout: number;
  txid: Txid | null;
}

function placeOfRow({ sat, sat_offset: offset, vout, txid }: PlaceRow): RareSatPlace {
  const output = txid === null ? null : { txid, vout };
  const outpoint = output === null ? lostOutpoint : `${displayHash(output.txid)}:${output.vout}`;
  return { sat, output, satpoint: `${outpoint}:${offset}` };
}

/** The location of a sat. `null` if the sat is common, or if it is not mined yet. */
export async function rareSatPlace(client: ClientBase, sat: Sat): Promise<RareSatPlace | null> {
  const { rows } = await client.query<PlaceRow>(
    'SELECT sat, sat_offset, vout, txid FROM chain.rare_sats WHERE sat = $1 ORDER BY height DESC LIMIT 1',
    [sat],
  );
  const [row] = rows;
  return row === undefined ? null : placeOfRow(row);
}

/** The next sats that are not common, ascending, with their locations after the blocks up to a height. */
export async function rareSatsAfter(
  client: ClientBase,
  { after, upTo, limit }: { after: number; upTo: Height; limit: number },
): Promise<RareSatPlace[]> {
  // one index look-up per sat, however often the sat has moved
  const { rows } = await client.query<PlaceRow>(
    `WITH RECURSIVE next AS (
       (SELECT sat, 1 AS nth FROM chain.rare_sats WHERE sat > $1 ORDER BY sat LIMIT 1)
       UNION ALL
       SELECT (SELECT r.sat FROM chain.rare_sats r WHERE r.sat > next.sat ORDER BY r.sat LIMIT 1), nth + 1
       FROM next WHERE next.sat IS NOT NULL AND nth < $3
     )
     SELECT last.sat, last.sat_offset, last.vout, last.txid FROM next
     CROSS JOIN LATERAL (
       SELECT * FROM chain.rare_sats r WHERE r.sat = next.sat AND r.height <= $2 ORDER BY r.height DESC LIMIT 1
     ) AS last
     ORDER BY last.sat`,
    [after, upTo, limit],
  );
  return rows.map(placeOfRow);
}
