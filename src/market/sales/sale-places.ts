/** The sales of a collection in one block. */
export interface SoldInBlock {
  readonly height: number;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  /**
   * Three big-endian numbers of four bytes for each sale, in this order: index of the transaction, index of the input,
   * and index in the input.
   */
  readonly places: Uint8Array;
  /** Number of wash trades. */
  readonly washSales: number;
  /** Sum of the prices in sats without wash trades. `washVolume` is the sum of the wash trades. */
  readonly volume: number;
  readonly washVolume: number;
  /** The lowest price in sats, without wash trades. Null if all sales are wash trades. */
  readonly lowest: number | null;
}

/** Position of a sale: the primary key of chain.sales. */
export interface SalePlace {
  readonly height: number;
  readonly txIndex: number;
  readonly input: number;
  readonly place: number;
}

/** The requested page of the sales of a collection. */
export interface ActivityQuestion {
  /** Time in Unix seconds. Blocks with an earlier time are left out. If it is null, no block is left out. */
  readonly since: number | null;
  readonly order: 'asc' | 'desc';
  /** Number of the page, from 0. */
  readonly page: number;
  readonly limit: number;
}

const numberBytes = 4;
export const placeBytes = 3 * numberBytes;

export const salesIn = ({ places }: SoldInBlock): number => places.length / placeBytes;

/**
 * A page of sales. `blocks` must be sorted by ascending height. Block times go backwards by hours, so the time of every
 * block is compared. Blocks before the page are only counted, which takes some milliseconds for a whole chain.
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

/** Position of a sale in a block. */
export function placeAt({ height, places }: SoldInBlock, at: number): SalePlace {
  const view = new DataView(places.buffer, places.byteOffset + at * placeBytes, placeBytes);
  return {
    height,
    txIndex: view.getInt32(0),
    input: view.getInt32(numberBytes),
    place: view.getInt32(2 * numberBytes),
  };
}
