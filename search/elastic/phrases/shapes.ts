import type { Search } from '#search/elastic/server/clause.ts';

/**
 * Keyed by shape (`PhraseBook.encode`): the number of inscriptions with a text of that shape. Texts without phrases are
 * omitted.
 */
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
 * Counts the inscriptions of each shape. Null: there are more than `shapesMax` shapes. Reads all documents (0.1 s for
 * ten million inscriptions on two cores), so call it once per moment.
 */
export async function countShapes(search: Search, shapesMax: number): Promise<ShapeCounts | null> {
  const { aggregations } = await search<ShapesAnswer>(
    {
      size: 0,
      aggs: {
        shapes: {
          // request one more than is kept: if all shapes are returned, each count includes all shards
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
