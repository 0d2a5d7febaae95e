/** The sales of a collection in one block. */
export interface SoldInBlock {
  readonly height: number;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  /** For each sale its transaction, input and place there, in this order, as big-endian numbers of four bytes. */
  readonly places: Uint8Array;
  /** Number of the sales with `wash`. */
  readonly washSales: number;
  /** Sats of all other sales, and of those with `wash`. */
  readonly volume: number;
  readonly washVolume: number;
  /** The lowest price in sats, without sales with `wash`. Null: all have it. */
  readonly lowest: number | null;
}

/** Place of a sale: the primary key of chain.sales. */
export interface SalePlace {
  readonly height: number;
  readonly txIndex: number;
  readonly input: number;
  readonly place: number;
}

/** The requested page of the sales of a collection. */
export interface ActivityQuestion {
  /** Unix seconds: blocks with an earlier time are left out. Null: no block is. */
  readonly since: number | null;
  readonly order: 'asc' | 'desc';
  /** From 0. */
  readonly page: number;
  readonly limit: number;
}

const numberBytes = 4;
export const placeBytes = 3 * numberBytes;

export const salesIn = ({ places }: SoldInBlock): number => places.length / placeBytes;

/**
 * A page of sales. `blocks` ascend by height. Block times go backwards by hours, so every block's own time is compared.
 * Blocks before the page are only counted: some milliseconds for a whole chain.
 */
export function pageOfSales(
  blocks: readonly SoldInBlock[],
  { since, order, page, limit }: ActivityQuestion,
): SalePlace[] {
  const found: SalePlace[] = [];
  let before = page * limit;
  for (let nth = 0; nth < blocks.length && found.length < limit; nth++) {
    const block = blocks.at(order === 'asc' ? nth : -1 - nth);
    if (block === undefined || (since !== null && block.time < since)) continue;
    const count = salesIn(block);
    for (let at = before; at < count && found.length < limit; at++)
      found.push(placeAt(block, order === 'asc' ? at : count - 1 - at));
    before = Math.max(0, before - count);
  }
  return found;
}

/** The nth sale of a block. */
export function placeAt({ height, places }: SoldInBlock, at: number): SalePlace {
  const view = new DataView(places.buffer, places.byteOffset + at * placeBytes, placeBytes);
  return {
    height,
    txIndex: view.getInt32(0),
    input: view.getInt32(numberBytes),
    place: view.getInt32(2 * numberBytes),
  };
}
