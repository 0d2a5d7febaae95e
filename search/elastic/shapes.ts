import type { Clause } from './clause.ts';
import type { Marker } from './marker.ts';

/** How many inscriptions have a text of each shape (`PhraseBook.encode`) but the one without phrases. */
export type ShapeCounts = ReadonlyMap<string, number>;

/** Shapes of some marker. Null: there are too many of them to be known one by one. */
export interface KnownShapes {
  readonly marker: Marker;
  readonly counts: ShapeCounts | null;
}

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
 * Counts the inscriptions of each shape up to a marker. What is known of an earlier moment is added to: documents of keys
 * below its marker are the same, as long as no block was taken back, and a shape is one of the same phrases.
 */
export async function countShapes(
  search: (body: Readonly<Record<string, unknown>>, clauses: readonly Clause[]) => Promise<ShapesAnswer>,
  marker: Marker,
  known: KnownShapes | null,
  shapesMax: number,
): Promise<KnownShapes> {
  const before = known !== null && isContinued(known.marker, marker) ? known : null;
  if (before?.counts === null) return { marker, counts: null };
  const { aggregations } = await search(
    {
      size: 0,
      aggs: {
        shapes: {
          terms: { field: 'shape', size: shapesMax + 1 },
          aggs: { inscriptions: { sum: { field: 'count' } } },
        },
      },
    },
    [{ range: { firstKey: { gte: before?.marker.nextKey ?? 0 } } }],
  );
  const counts = new Map(before?.counts);
  for (const { key, inscriptions } of aggregations.shapes.buckets) {
    counts.set(key, (counts.get(key) ?? 0) + inscriptions.value);
  }
  return { marker, counts: counts.size > shapesMax ? null : counts };
}

const isContinued = (before: Marker, marker: Marker): boolean =>
  before.database === marker.database &&
  before.epoch === marker.epoch &&
  before.nextKey <= marker.nextKey &&
  before.phrases.length === marker.phrases.length &&
  before.phrases.every((phrase, at) => phrase === marker.phrases[at]);
