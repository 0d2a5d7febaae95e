import type { Search } from '#search/elastic/server/clause.ts';

/** The number of inscriptions with a text of each shape (`PhraseBook.encode`), without texts that have no phrase. */
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
 * Counts the inscriptions of each shape. Null: more than `shapesMax` shapes. Looks at all documents (0.1 s for ten
 * million inscriptions on two cores), so call it once a moment.
 */
export async function countShapes(search: Search, shapesMax: number): Promise<ShapeCounts | null> {
  const { aggregations } = await search<ShapesAnswer>(
    {
      size: 0,
      aggs: {
        shapes: {
          // one more than is kept: when all shapes are returned, each count sums all shards
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
