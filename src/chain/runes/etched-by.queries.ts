import type { ClientBase } from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';

/** SQL: whether a rune with this name was etched in a block. `rune` is an SQL expression of the name's number. */
export const isEtched = (rune: string): string =>
  `EXISTS (SELECT FROM chain.runes AS r WHERE r.rune = ${rune})`;

/** A transaction that etched a rune, and its block. */
export interface EtchedBy {
  readonly txid: Txid;
  readonly height: Height;
}

/** The transactions that etched these names, by the number of the name. Names that no block has etched are left out. */
export async function etchedNames(
  client: ClientBase,
  runes: readonly Rune[],
): Promise<ReadonlyMap<Rune, EtchedBy>> {
  const { rows } = await client.query<EtchedRow & { rune: string }>(
    'SELECT rune::text, txid, height FROM chain.runes WHERE rune = ANY($1::numeric[])',
    [runes.map(String)],
  );
  return new Map(rows.map((row) => [asRune(BigInt(row.rune)), etchedByOf(row)]));
}

/** The transaction that etched a name. `null` if no block has etched it. */
export async function etchedBy(client: ClientBase, rune: Rune): Promise<EtchedBy | null> {
  return (await etchedNames(client, [rune])).get(rune) ?? null;
}

/** A rune, by its name and its id. */
export interface EtchedRune extends SpacedRune {
  readonly height: Height;
  /** Index of the etching transaction in that block. */
  readonly txIndex: number;
}

/** The rune that a transaction etched. `null` if the index has no rune of this transaction. */
export async function etchedIn(client: ClientBase, txid: Txid): Promise<EtchedRune | null> {
  const { rows } = await client.query<{ rune: string; spacers: number; height: Height; tx_index: number }>(
    'SELECT rune::text, spacers, height, tx_index FROM chain.runes WHERE txid = $1',
    [Buffer.from(txid)],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { rune, spacers, height, tx_index: txIndex } = row;
  return { rune: asRune(BigInt(rune)), spacers, height, txIndex };
}

interface EtchedRow {
  readonly txid: Buffer;
  readonly height: Height;
}

const etchedByOf = ({ txid, height }: EtchedRow): EtchedBy => ({ txid: trustedTxid(txid), height });
