import type { ClientBase } from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Rune } from '#kernel/runes/rune.ts';

/** SQL: whether a block has etched the name whose number an expression gives. */
export const isEtched = (rune: string): string =>
  `EXISTS (SELECT FROM chain.runes AS r WHERE r.rune = ${rune})`;

/** A transaction that etched a rune, and its block. */
export interface EtchedBy {
  readonly txid: Txid;
  readonly height: Height;
}

/** The transaction that etched a name; null: no block has etched it. */
export async function etchedBy(client: ClientBase, rune: Rune): Promise<EtchedBy | null> {
  return firstOf(client, 'rune = $1', String(rune));
}

/** The rune that a transaction etched; null: the index has no rune of it. */
export async function etchedIn(client: ClientBase, txid: Txid): Promise<EtchedBy | null> {
  return firstOf(client, 'txid = $1', Buffer.from(txid));
}

async function firstOf(
  client: ClientBase,
  condition: 'rune = $1' | 'txid = $1',
  value: string | Buffer,
): Promise<EtchedBy | null> {
  const { rows } = await client.query<{ txid: Buffer; height: Height }>(
    `SELECT txid, height FROM chain.runes WHERE ${condition}`,
    [value],
  );
  const [row] = rows;
  return row === undefined ? null : { txid: trustedTxid(row.txid), height: row.height };
}
