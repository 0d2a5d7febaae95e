import type pg from 'pg';
import { hasUnspentOutputs } from '#chain/outputs/address.queries.ts';
import { isWatchedOrPaid } from '#payments/payments.queries.ts';

/**
 * Number of times that this process asked. Planning takes longer than the rest of the statement, so each connection
 * prepares it. A plan for nearly empty tables reads all of them. So the statement gets another name, and another plan,
 * each time the number doubles.
 */
let asked = 0;

/**
 * Whether any of these addresses was watched or paid before, as far as the database knows: by payments that were seen,
 * and by unspent outputs if all addresses are indexed. A new address of the wallet never was.
 */
export async function areKnown(
  tx: pg.ClientBase,
  addresses: readonly { readonly script: Uint8Array }[],
): Promise<boolean> {
  asked++;
  const { rowCount } = await tx.query({
    name: `known scripts ${Math.floor(Math.log2(asked))}`,
    text: `SELECT FROM unnest($1::bytea[]) AS given (script)
      WHERE ${isWatchedOrPaid('given.script')} OR ${hasUnspentOutputs('given.script')} LIMIT 1`,
    values: [addresses.map(({ script }) => Buffer.from(script))],
  });
  return rowCount !== 0;
}
