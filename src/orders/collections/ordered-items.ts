import type { HeldItem, HeldItems } from '#collections/selling/holds.store.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';

/** Items of a collection that an order inscribes, on the terms of its hold. */
export interface OrderedItems extends Pick<HeldItems, 'price' | 'creatorAddress'> {
  /** The hold is of this order. */
  readonly orderId: string;
  readonly collection: string;
  /** Asked for by number, and not drawn. */
  readonly isRequested: boolean;
  /** One a file, in their order. */
  readonly items: readonly OrderedItem[];
}

/** An item with the bytes that were approved. */
export interface OrderedItem extends HeldItem {
  readonly content: Uint8Array;
}

/** The files of an order of items: named, and of the type, as they were approved. Pure. */
export const itemFiles = ({ items }: Pick<OrderedItems, 'items'>): ReadFile[] =>
  items.map(({ item, name, mediaType, content }) => ({
    terms: {
      contentType: mediaType,
      body: content.length,
      delegate: null,
      contentEncoding: null,
      metaprotocol: null,
      metadata: null,
    },
    metadata: null,
    name,
    body: {
      kind: 'data',
      data: { kind: 'content', bytes: content.length, mediaType, held: content },
    },
    field: `item ${item}`,
  }));
