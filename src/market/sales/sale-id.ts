import { displayHash } from '#kernel/primitives/hash.ts';
import { maxHeight } from '#kernel/primitives/height.ts';
import type { SalePlace } from './sale-places.ts';

/**
 * Position of a sale, and the last digits of its block's hash. A sale at the same position of another block is another
 * sale.
 */
export interface SaleId {
  readonly place: SalePlace;
  /** The last 16 hexadecimal digits of the block's hash. */
  readonly blockMark: string;
}

const markDigits = 16;

/**
 * Maximum of the indexes of a sale. An input takes 41 bytes, and an inscription of an input takes more, so no index in
 * a block is larger.
 */
const indexMax = 9_999_999;

const pattern = /^[0-9]{1,10}(?:\.[0-9]{1,7}){3}\.[0-9a-f]{16}$/u;
export const saleIdPattern = pattern.source;

export const markOfBlock = (hash: Uint8Array): string => displayHash(hash).slice(-markDigits);

const placePattern = /^[0-9]{1,10}(?:\.[0-9]{1,7}){3}$/u;
export const salePlacePattern = placePattern.source;

/** A text such as `840000.12.2.0`: height, transaction, input, index in the input. */
export const formatSalePlace = ({ height, txIndex, input, place }: SalePlace): string =>
  `${height}.${txIndex}.${input}.${place}`;

/** Parses a position of a sale. Returns null if the text has another form. */
export const parseSalePlace = (text: string): SalePlace | null =>
  placePattern.test(text) ? readPlace(text) : null;

/** A text such as `840000.12.2.0.83a1f1e2d3c4b5a6`: height, transaction, input, index in the input, block. */
export const formatSaleId = (place: SalePlace, blockMark: string): string =>
  `${formatSalePlace(place)}.${blockMark}`;

/** Parses an id of a sale. Returns null if the text has another form. */
export function parseSaleId(text: string): SaleId | null {
  const place = pattern.test(text) ? readPlace(text) : null;
  return place === null ? null : { place, blockMark: text.slice(-markDigits) };
}

/** The position in the first four numbers of a text. Returns null if no block can have such a position. */
function readPlace(text: string): SalePlace | null {
  const [height = 0, txIndex = 0, input = 0, place = 0] = text.split('.', 4).map(Number);
  if (height > maxHeight || Math.max(txIndex, input, place) > indexMax) return null;
  return { height, txIndex, input, place };
}
