import type pg from 'pg';
import { assetsOf, type RuneAsset } from '#purse/ledger/assets.store.ts';
import type { TokenRune } from './token-order.ts';

/** A rune of the index. */
export interface IndexedRune extends RuneAsset {
  /** Name of the rune with spacers. */
  readonly name: string;
  readonly divisibility: number;
}

/** Stores runes with the data for display. Returns the runes with their numbers, in the same order. */
export async function storedRunes(
  tx: pg.Pool | pg.ClientBase,
  runes: readonly IndexedRune[],
): Promise<TokenRune[]> {
  if (runes.length === 0) return [];
  const assets = await assetsOf(tx, runes);
  await tx.query(
    `INSERT INTO service.token_runes (asset, name, divisibility)
     SELECT DISTINCT ON (asset) * FROM unnest($1::integer[], $2::text[], $3::smallint[]) AS r (asset, name, divisibility)
      ORDER BY asset ON CONFLICT DO NOTHING`,
    [assets, runes.map(({ name }) => name), runes.map(({ divisibility }) => divisibility)],
  );
  return runes.map(({ etching, name, divisibility }, place) => ({
    asset: assets[place] ?? 0,
    etching,
    name,
    divisibility,
  }));
}

/** Runes by their numbers. */
export async function tokenRunesOf(
  client: pg.Pool | pg.ClientBase,
  assets: readonly number[],
): Promise<ReadonlyMap<number, TokenRune>> {
  if (assets.length === 0) return new Map();
  const { rows } = await client.query<TokenRune>(
    `SELECT r.asset, a.etching, r.name, r.divisibility
       FROM service.token_runes AS r JOIN service.assets AS a ON a.id = r.asset WHERE r.asset = ANY($1::integer[])`,
    [assets],
  );
  return new Map(rows.map((rune) => [rune.asset, rune]));
}
