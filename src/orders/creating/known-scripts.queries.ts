import type pg from 'pg';
import { hasUnspentOutputs } from '#chain/outputs/address.queries.ts';
import { isWatchedOrPaid } from '#payments/payments.queries.ts';

/**
 * Whether any of these addresses was watched or paid before, as far as the database knows: by payments that were seen, and
 * by unspent outputs where all addresses are indexed. A new address of the wallet never was.
 */
export async function areKnown(
  tx: pg.ClientBase,
  addresses: readonly { readonly script: Uint8Array }[],
): Promise<boolean> {
  // prepared once on each connection: planning takes longer than the rest of it
  const { rowCount } = await tx.query({
    name: 'known scripts',
    text: `SELECT FROM unnest($1::bytea[]) AS given (script)
      WHERE ${isWatchedOrPaid('given.script')} OR ${hasUnspentOutputs('given.script')} LIMIT 1`,
    values: [addresses.map(({ script }) => Buffer.from(script))],
  });
  return rowCount !== 0;
}
