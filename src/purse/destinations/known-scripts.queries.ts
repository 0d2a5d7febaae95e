import type pg from 'pg';
import { hasUnspentOutputs } from '#chain/outputs/address.queries.ts';
import { isWatchedOrPaid } from '#payments/payments.queries.ts';

/**
 * Number of queries that this process made. Each connection prepares the statement, because planning takes longer than
 * the rest of the query. A plan that was made for nearly empty tables reads entire tables. So the statement gets
 * another name, and thus another plan, each time the number doubles.
 */
let asked = 0;

/**
 * Whether any of these addresses was watched or paid before, as far as the database knows. The database knows payments
 * that were seen, and all unspent outputs if all addresses are indexed. Always false for a wallet address that no one
 * ever saw.
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
