import type { ClientBase } from 'pg';
import { type CollectionRow, collectionColumns, collectionOf } from '#market/collections/collection.store.ts';
import { type ImportedCollection, importedOf } from '#market/collections/market-slug.store.ts';

export interface CollectionSearch {
  /** A part of the name or slug, in upper or lower case. An empty text matches all collections. */
  readonly text: string;
  /** The order of the result. If it is null, collections are sorted by slug. */
  readonly by: CollectionOrder | null;
  readonly offset: number;
  readonly limit: number;
}

/** An order of collections. Collections with equal values are sorted by slug. */
export interface CollectionOrder {
  /** The values to sort by. `given` means the numbers in `values`. Collections without a value come last. */
  readonly of: 'name' | 'items' | 'given';
  /** The values to sort by if `of` is `given`. The keys are slugs. */
  readonly values: ReadonlyMap<string, number>;
  readonly isDescending: boolean;
}

const orderings = { name: 'lower(name) COLLATE "C"', items: 'items', given: 'value' } as const;

/**
 * The found collections in the requested order. Every collection is read, because an operator imports only some
 * thousand collections.
 */
export async function searchCollections(
  client: ClientBase,
  { text, by, offset, limit }: CollectionSearch,
): Promise<ImportedCollection[]> {
  // no name has a NUL character, and Postgres does not accept NUL
  if (text.includes('\0')) return [];
  const values = [...(by?.values ?? [])];
  const order = by === null ? '' : `${orderings[by.of]} ${by.isDescending ? 'DESC' : 'ASC'} NULLS LAST,`;
  const { rows } = await client.query<CollectionRow>(
    `SELECT ${collectionColumns} FROM service.market_collections
     LEFT JOIN unnest($1::text[], $2::float8[]) AS given(slug, value) USING (slug)
     WHERE $3 = '' OR strpos(lower(name), lower($3)) > 0 OR strpos(slug, lower($3)) > 0
     ORDER BY ${order} slug LIMIT $4 OFFSET $5`,
    [values.map(([slug]) => slug), values.map(([, value]) => value), text, limit, offset],
  );
  return rows.map((row) => importedOf(collectionOf(row)));
}

/** A collection whose name or slug begins with a text. */
export interface NamedCollection extends ImportedCollection {
  /** Whether the text equals the name or slug, instead of being only its beginning. */
  readonly isWhole: boolean;
}

/**
 * Collections whose name or slug begins with a text, in upper or lower case. Collections whose name or slug equals the
 * text come first. Every collection is read, as in a search.
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
