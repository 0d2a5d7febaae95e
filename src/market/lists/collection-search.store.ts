import type { ClientBase } from 'pg';
import { type CollectionRow, collectionColumns, collectionOf } from '#market/collections/collection.store.ts';
import { type ImportedCollection, importedOf } from '#market/collections/market-slug.store.ts';
import type { WeekSums } from '#market/sales/week-sales.ts';

export interface CollectionSearch {
  /** A part of the name or slug, in any case of letters. Empty: all. */
  readonly text: string;
  /** Null: by slug. Otherwise those of the largest volume first, then by slug. */
  readonly byVolume: WeekSums | null;
  readonly offset: number;
  readonly limit: number;
}

/** Searched for and listed: an operator imports some thousands, so each is looked at. */
export async function searchCollections(
  client: ClientBase,
  { text, byVolume, offset, limit }: CollectionSearch,
): Promise<ImportedCollection[]> {
  // no name has one, and Postgres takes none
  if (text.includes('\0')) return [];
  const volumes = [...(byVolume ?? [])];
  const { rows } = await client.query<CollectionRow>(
    `SELECT ${collectionColumns} FROM service.market_collections
     LEFT JOIN unnest($1::text[], $2::float8[]) AS week(slug, volume) USING (slug)
     WHERE $3 = '' OR strpos(lower(name), lower($3)) > 0 OR strpos(slug, lower($3)) > 0
     ORDER BY coalesce(volume, 0) DESC, slug LIMIT $4 OFFSET $5`,
    [volumes.map(([slug]) => slug), volumes.map(([, { volume }]) => volume), text, limit, offset],
  );
  return rows.map((row) => importedOf(collectionOf(row)));
}

/** A collection that a text names. */
export interface NamedCollection extends ImportedCollection {
  /** The text is its whole name or slug. */
  readonly isWhole: boolean;
}

/**
 * Collections whose name or slug begins with a text, in any case of letters; those that it names whole first. Each of
 * some thousands is looked at, as in a search.
 */
export async function namedCollections(
  client: ClientBase,
  text: string,
  limit: number,
): Promise<NamedCollection[]> {
  const { rows } = await client.query<CollectionRow & { readonly is_whole: boolean }>(
    `SELECT ${collectionColumns}, lower($1) IN (lower(name), slug) AS is_whole FROM service.market_collections
     WHERE starts_with(lower(name), lower($1)) OR starts_with(slug, lower($1))
     ORDER BY is_whole DESC, items DESC, slug LIMIT $2`,
    [text, limit],
  );
  return rows.map(({ is_whole: isWhole, ...row }) => ({ ...importedOf(collectionOf(row)), isWhole }));
}
