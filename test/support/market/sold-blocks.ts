import fc from 'fast-check';
import { placeBytes, type SalePlace, type SoldInBlock } from '#market/sales/sale-places.ts';

type Sale = readonly [txIndex: number, input: number, place: number];

/** The sales of one block. `sales` may have any order. */
export function soldInBlock(height: number, time: number, sales: readonly Sale[]): SoldInBlock {
  const places = Buffer.alloc(sales.length * placeBytes);
  for (const [nth, numbers] of sales.entries())
    for (const [at, number] of numbers.entries()) places.writeInt32BE(number, nth * placeBytes + at * 4);
  return { height, time, places, washSales: 0, volume: 0, washVolume: 0, lowest: null };
}

/** All sales of some blocks, parsed without the service's reader. */
export const placesOf = (blocks: readonly SoldInBlock[]): SalePlace[] =>
  blocks.flatMap(({ height, places }) => {
    const bytes = Buffer.from(places);
    return Array.from({ length: bytes.length / placeBytes }, (_, nth) => ({
      height,
      txIndex: bytes.readInt32BE(nth * placeBytes),
      input: bytes.readInt32BE(nth * placeBytes + 4),
      place: bytes.readInt32BE(nth * placeBytes + 8),
    }));
  });

const sale = fc.tuple(fc.nat({ max: 9_000 }), fc.nat({ max: 9 }), fc.nat({ max: 3 }));
const inOrder = (one: Sale, other: Sale): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2];

/**
 * Blocks whose sales are in the order of the chain and have no duplicates. Block times go up and down, from 0 to
 * `timeMax`.
 */
export const soldChains = (timeMax: number): fc.Arbitrary<SoldInBlock[]> =>
  fc
    .array(
      fc.record({
        time: fc.nat({ max: timeMax }),
        sales: fc.uniqueArray(sale, { minLength: 1, maxLength: 9, selector: String }),
      }),
      { maxLength: 12 },
    )
    .map((blocks) =>
      blocks.map(({ time, sales }, height) => soldInBlock(height, time, sales.toSorted(inOrder))),
    );
