import type { ClientBase } from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';

/** SQL: whether a block has etched the name whose number an expression gives. */
export const isEtched = (rune: string): string =>
  `EXISTS (SELECT FROM chain.runes AS r WHERE r.rune = ${rune})`;

/** A transaction that etched a rune, and its block. */
export interface EtchedBy {
  readonly txid: Txid;
  readonly height: Height;
}

/** The transactions that etched these names, by their numbers; without the names that no block has etched. */
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

/** The transaction that etched a name; null: no block has etched it. */
export async function etchedBy(client: ClientBase, rune: Rune): Promise<EtchedBy | null> {
  return (await etchedNames(client, [rune])).get(rune) ?? null;
}

/** The rune that a transaction etched; null: the index has no rune of it. */
export async function etchedIn(client: ClientBase, txid: Txid): Promise<EtchedBy | null> {
  const { rows } = await client.query<EtchedRow>('SELECT txid, height FROM chain.runes WHERE txid = $1', [
    Buffer.from(txid),
  ]);
  const [row] = rows;
  return row === undefined ? null : etchedByOf(row);
}

interface EtchedRow {
  readonly txid: Buffer;
  readonly height: Height;
}

const etchedByOf = ({ txid, height }: EtchedRow): EtchedBy => ({ txid: trustedTxid(txid), height });
