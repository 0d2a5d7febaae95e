import type { Search } from '#search/elastic/server/clause.ts';

/** How many inscriptions have a text of each shape (`PhraseBook.encode`) but the one without phrases. */
export type ShapeCounts = ReadonlyMap<string, number>;

interface ShapesAnswer {
  readonly aggregations: {
    readonly shapes: {
      readonly buckets: readonly {
        readonly key: string;
        readonly inscriptions: { readonly value: number };
      }[];
    };
  };
}

/**
 * Counts the inscriptions of each shape; null: there are more than `shapesMax`. All documents are looked at (0.1 s for ten million
 * inscriptions on two cores), so it is done once a moment.
 */
export async function countShapes(search: Search, shapesMax: number): Promise<ShapeCounts | null> {
  const { aggregations } = await search<ShapesAnswer>(
    {
      size: 0,
      aggs: {
        shapes: {
          // one more than are kept: where all are there, each is summed over all shards
          terms: { field: 'shape', size: shapesMax + 1 },
          aggs: { inscriptions: { sum: { field: 'count' } } },
        },
      },
    },
    [],
  );
  const { buckets } = aggregations.shapes;
  if (buckets.length > shapesMax) return null;
  return new Map(buckets.map(({ key, inscriptions }) => [key, inscriptions.value]));
}
