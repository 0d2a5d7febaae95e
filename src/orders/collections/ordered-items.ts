import type { HeldItem, HeldItems } from '#collections/selling/hold-request.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';

/** Items of a collection that an order inscribes, with the terms of their hold. */
export interface OrderedItems extends QuotedItems, Pick<HeldItems, 'creatorAddress' | 'cheaper'> {
  /** The order that holds them. */
  readonly orderId: string;
  readonly collection: string;
}

/** Items with the fields that a price depends on. */
export interface QuotedItems extends Pick<HeldItems, 'price' | 'runePrice'> {
  /** True: the client named their numbers. False: they are drawn. */
  readonly isRequested: boolean;
  /** One for each file, in the order of the files. */
  readonly items: readonly OrderedItem[];
}

/** An item with its approved bytes; null in a price, which needs only their number. */
export interface OrderedItem extends HeldItem {
  readonly content: Uint8Array | null;
}

/** The files of an order of items, with their names and types as approved. Pure. */
export const itemFiles = ({ items }: Pick<QuotedItems, 'items'>): ReadFile[] =>
  items.map(({ item, name, mediaType, bytes, content }) => ({
    terms: {
      contentType: mediaType,
      body: bytes,
      delegate: null,
      contentEncoding: null,
      metaprotocol: null,
      metadata: null,
    },
    metadata: null,
    name,
    body:
      content === null ? null : { kind: 'data', data: { kind: 'content', bytes, mediaType, held: content } },
    field: `item ${item}`,
  }));
