import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';

/**
 * The ledger's identity of a rune: its etching and its name. Block-based ids are not used, because they change with a
 * reorganisation. After a reorganisation, a name can also be etched again.
 */
export interface RuneAsset {
  readonly etching: Txid;
  readonly rune: Rune;
}

/** The numbers of runes in service.assets, in the same order. New runes are added. */
export async function assetsOf(tx: pg.Pool | pg.ClientBase, runes: readonly RuneAsset[]): Promise<number[]> {
  if (runes.length === 0) return [];
  const known = await numbersOf(tx, runes);
  if (!known.includes(null)) return known as number[];
  // two transactions may add the same rune; the transaction that waits finds the rune with the second query
  await tx.query(
    `INSERT INTO service.assets (etching, rune)
     SELECT DISTINCT etching, rune FROM unnest($1::bytea[], $2::numeric[]) AS given (etching, rune)
      ORDER BY etching, rune ON CONFLICT DO NOTHING`,
    valuesOf(runes),
  );
  return (await numbersOf(tx, runes)) as number[];
}

const valuesOf = (runes: readonly RuneAsset[]): unknown[] => [
  runes.map(({ etching }) => Buffer.from(etching)),
  runes.map(({ rune }) => String(rune)),
];

async function numbersOf(
  tx: pg.Pool | pg.ClientBase,
  runes: readonly RuneAsset[],
): Promise<(number | null)[]> {
  const { rows } = await tx.query<{ id: number | null }>(
    `SELECT a.id FROM unnest($1::bytea[], $2::numeric[]) WITH ORDINALITY AS given (etching, rune, place)
       LEFT JOIN service.assets AS a ON a.etching = given.etching AND a.rune = given.rune
      ORDER BY place`,
    valuesOf(runes),
  );
  return rows.map(({ id }) => id);
}

/** The runes with these numbers, in the same order. */
export async function runesOfAssets(
  client: pg.Pool | pg.ClientBase,
  assets: readonly number[],
): Promise<RuneAsset[]> {
  if (assets.length === 0) return [];
  const { rows } = await client.query<{ etching: Txid; rune: string }>(
    `SELECT a.etching, a.rune::text AS rune FROM unnest($1::integer[]) WITH ORDINALITY AS given (id, place)
       JOIN service.assets AS a ON a.id = given.id AND a.etching IS NOT NULL ORDER BY given.place`,
    [assets],
  );
  assert(rows.length === assets.length, 'each of these numbers belongs to a rune');
  return rows.map(({ etching, rune }) => ({ etching, rune: asRune(BigInt(rune)) }));
}
