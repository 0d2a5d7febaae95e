import type { ClientBase } from 'pg';

/** A trait of an item, with the name and value from its list. */
export interface ItemTrait {
  readonly name: string;
  readonly value: string;
}

/**
 * Maximum number of characters of a trait. Longer texts describe an item, and are not used as filters. Eight traits of
 * this length fit in a URL.
 */
export const traitCharsMax = 100;

/** Maximum number of rows of one statement. All rows of the largest import together contain 16 MB of positions. */
const rowsEach = 1_000;
const placeBytes = 4;

interface RankedValue {
  readonly value: string;
  readonly places: readonly number[];
}

/** Stores the traits of items. The items must be in the order of their list. */
export async function insertTraits(
  tx: ClientBase,
  slug: string,
  items: readonly { readonly traits: readonly ItemTrait[] }[],
): Promise<void> {
  const rows = rankedNames(items).flatMap(({ name, values }, nameRank) =>
    values.map(({ value, places }, valueRank) => ({ name, value, nameRank, valueRank, places })),
  );
  for (let first = 0; first < rows.length; first += rowsEach) {
    const some = rows.slice(first, first + rowsEach);
    await tx.query(
      `INSERT INTO service.market_traits (slug, name, value, name_rank, value_rank, items, places)
       SELECT $1, given.name, given.value, given.name_rank, given.value_rank, length(given.places) / ${placeBytes}, given.places
       FROM unnest($2::text[], $3::text[], $4::integer[], $5::integer[], $6::bytea[])
         AS given(name, value, name_rank, value_rank, places)`,
      [
        slug,
        some.map(({ name }) => name),
        some.map(({ value }) => value),
        some.map(({ nameRank }) => nameRank),
        some.map(({ valueRank }) => valueRank),
        some.map(({ places }) => packed(places)),
      ],
    );
  }
}

/**
 * Names of traits with their values. The names and values that most items have come first. Equally frequent names or
 * values are sorted by their characters.
 */
function rankedNames(
  items: readonly { readonly traits: readonly ItemTrait[] }[],
): { readonly name: string; readonly values: readonly RankedValue[] }[] {
  const found = new Map<string, Map<string, number[]>>();
  for (const [place, { traits }] of items.entries())
    for (const { name, value } of traits) {
      const values = found.get(name) ?? new Map<string, number[]>();
      if (values.size === 0) found.set(name, values);
      const places = values.get(value);
      if (places === undefined) values.set(value, [place]);
      else places.push(place);
    }
  return [...found]
    .map(([name, values]) => ({
      name,
      values: [...values]
        .map(([value, places]) => ({ value, places }))
        .sort((a, b) => b.places.length - a.places.length || ordered(a.value, b.value)),
      total: [...values.values()].reduce((sum, places) => sum + places.length, 0),
    }))
    .sort((a, b) => b.total - a.total || ordered(a.name, b.name));
}

const ordered = (one: string, other: string): number => (one < other ? -1 : 1);

function packed(places: readonly number[]): Buffer {
  const bytes = Buffer.alloc(places.length * placeBytes);
  for (const [nth, place] of places.entries()) bytes.writeInt32BE(place, nth * placeBytes);
  return bytes;
}

/** A trait name, with its values. The values that most items have come first. */
export interface CountedTrait {
  readonly name: string;
  /** Number of values of this name. */
  readonly total: number;
  readonly values: readonly { readonly value: string; readonly items: number }[];
}

/** Maximum number of names to show. The largest lists of the community have fewer names. */
const namesShown = 20;
/**
 * Maximum number of values to show for each name. People search a longer list instead of reading it. All shown names
 * together have at most a thousand links on a page.
 */
const valuesShown = 50;

/** The shown traits of an import, the most frequent first. */
export async function readTraits(client: ClientBase, slug: string): Promise<CountedTrait[]> {
  const { rows } = await client.query<{ name: string; value: string; items: number; total: number }>(
    `SELECT t.name, t.value, t.items, last.value_rank + 1 AS total
     FROM generate_series(0, ${namesShown - 1}) AS shown(rank)
     CROSS JOIN LATERAL (SELECT value_rank FROM service.market_traits
       WHERE slug = $1 AND name_rank = shown.rank ORDER BY value_rank DESC LIMIT 1) last
     JOIN service.market_traits t ON t.slug = $1 AND t.name_rank = shown.rank AND t.value_rank < ${valuesShown}
     ORDER BY t.name_rank, t.value_rank`,
    [slug],
  );
  return [...Map.groupBy(rows, ({ name }) => name)].map(([name, values]) => ({
    name,
    total: values[0]?.total ?? 0,
    values: values.map(({ value, items }) => ({ value, items })),
  }));
}

/** Positions of those items of an import that have all of these traits. Returns null if no trait was requested. */
export async function placesWithTraits(
  client: ClientBase,
  slug: string,
  traits: readonly ItemTrait[],
): Promise<ReadonlySet<number> | null> {
  if (traits.length === 0) return null;
  // no trait has a NUL character, and Postgres does not accept NUL
  if (traits.some(({ name, value }) => name.includes('\0') || value.includes('\0'))) return new Set();
  const { rows } = await client.query<{ places: Buffer | null }>(
    `SELECT t.places FROM unnest($2::text[], $3::text[]) AS asked(name, value)
     LEFT JOIN service.market_traits t ON t.slug = $1 AND t.name = asked.name AND t.value = asked.value`,
    [slug, traits.map(({ name }) => name), traits.map(({ value }) => value)],
  );
  const [first = new Set<number>(), ...others] = rows.map(({ places }) => placesIn(places));
  return others.reduce((all, some) => all.intersection(some), first);
}

function placesIn(places: Buffer | null): Set<number> {
  const found = new Set<number>();
  for (let at = 0; at < (places?.length ?? 0); at += placeBytes) found.add(places?.readInt32BE(at) ?? 0);
  return found;
}
