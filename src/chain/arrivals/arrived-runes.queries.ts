import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';

/** A rune that was etched, or whose last mint was made. */
export interface ArrivedRune {
  readonly event: 'etched' | 'minted-out';
  readonly rune: bigint;
  /** The name with its spacers. */
  readonly name: string;
  /** Null: pending, because the block decides the id. */
  readonly id: string | null;
  /** The etching, for both events. */
  readonly txid: Txid;
}

interface Row {
  readonly rune: string;
  readonly spacers: number;
  readonly id: string | null;
  readonly txid: Txid;
}

const runeOf =
  (event: ArrivedRune['event']) =>
  ({ rune, spacers, id, txid }: Row): ArrivedRune => ({
    event,
    rune: BigInt(rune),
    name: formatSpacedRune({ rune: asRune(BigInt(rune)), spacers }),
    id,
    txid,
  });

/** Runes that a block etches, and runes whose last mint is in the block. */
export async function readArrivedRunes(client: ClientBase, height: number): Promise<ArrivedRune[]> {
  const { rows: etched } = await client.query<Row>(
    `SELECT rune::text, spacers, height || ':' || tx_index AS id, txid FROM chain.runes WHERE height = $1 ORDER BY key`,
    [height],
  );
  // the total of a rune's mints never passes its cap, so the cap is reached in one block. A mint's row may lack the
  // txids, so the etching identifies the rune
  const { rows: minted } = await client.query<Row>(
    `SELECT r.rune::text, r.spacers, r.height || ':' || r.tx_index AS id, r.txid
       FROM chain.rune_mints AS m JOIN chain.runes AS r ON r.key = m.rune_key
      WHERE m.height = $1 AND r.cap IS NOT NULL AND m.mints = r.cap ORDER BY r.key`,
    [height],
  );
  return [...etched.map(runeOf('etched')), ...minted.map(runeOf('minted-out'))];
}

/**
 * Etchings of pending transactions at positions above `after` that would make a rune in the next block. The mempool's
 * tables may still have an etching that is in a block, or one whose name was just taken.
 */
export async function readPendingEtchings(client: ClientBase, after: number): Promise<ArrivedRune[]> {
  const { rows } = await client.query<Row>(
    `SELECT e.rune::text, e.spacers, NULL AS id, t.txid
       FROM chain.mempool_etchings AS e JOIN chain.pending_rune_transactions AS t USING (position)
      WHERE e.position > $1 AND e.state = 'open' AND e.rune IS NOT NULL
        AND NOT EXISTS (SELECT FROM chain.runes AS r WHERE r.rune = e.rune) ORDER BY e.position`,
    [after],
  );
  return rows.map(runeOf('etched'));
}
