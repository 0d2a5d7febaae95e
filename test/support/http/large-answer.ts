import type pg from 'pg';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';

/** More than the buffers of two sockets take without a reader. */
const metadata = Buffer.alloc(16_000_000, 'metadata ');

/** The whole body of `largePath`: two hex digits a byte. */
export const largeBody = JSON.stringify(metadata.toString('hex'));

/**
 * Gives the first inscription of a chain, made from the row `large`, metadata whose answer is large. Returns its path.
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
