import type pg from 'pg';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';

/** Metadata larger than the buffers of two sockets, so that a response needs a reader. */
const metadata = Buffer.alloc(16_000_000, 'metadata ');

/** The complete body at `largePath`, with two hex digits for each byte. */
export const largeBody = JSON.stringify(metadata.toString('hex'));

/**
 * Adds metadata with a large response to the first inscription of a chain, which is made from the row `large`. Returns
 * the path of the response.
 */
export async function addLargeAnswer(pool: pg.Pool): Promise<string> {
  await pool.query(
    `INSERT INTO chain.inscription_details (key, metadata)
     SELECT key, $1 FROM chain.inscriptions ORDER BY key LIMIT 1
     ON CONFLICT (key) DO UPDATE SET metadata = excluded.metadata`,
    [metadata],
  );
  return `/r/metadata/${idOf('large')}`;
}
