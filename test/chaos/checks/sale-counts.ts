import type pg from 'pg';

/** Numbers of a chain's sales by kind. If a number is 0, the run has not tried that kind. */
export interface SaleCounts {
  readonly sales: number;
  readonly offers: number;
  /** Sales of several inscriptions for one payment. */
  readonly bundles: number;
  /** Inscriptions that were sold again in the same block. */
  readonly resales: number;
}

export async function countSales(pool: pg.Pool): Promise<SaleCounts> {
  const { rows } = await pool.query<SaleCounts>(
    `SELECT (count(*) FILTER (WHERE class = 1))::integer AS sales,
       (count(*) FILTER (WHERE class = 2))::integer AS offers,
       (count(*) FILTER (WHERE bundle > 1 AND place = 0))::integer AS bundles,
       (count(*) - count(DISTINCT (height, key)))::integer AS resales
     FROM chain.sales`,
  );
  if (rows[0] === undefined) throw new Error('a count has a row');
  return rows[0];
}
