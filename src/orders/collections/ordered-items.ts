import type { HeldItem, HeldItems } from '#collections/selling/hold-request.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';

/** Items of a collection that an order inscribes, on the terms of its hold. */
export interface OrderedItems extends QuotedItems, Pick<HeldItems, 'creatorAddress' | 'cheaper'> {
  /** The hold is of this order. */
  readonly orderId: string;
  readonly collection: string;
}

/** Items as far as a price depends on them. */
export interface QuotedItems extends Pick<HeldItems, 'price' | 'runePrice'> {
  /** Asked for by number, and not drawn. */
  readonly isRequested: boolean;
  /** One a file, in their order. */
  readonly items: readonly OrderedItem[];
}

/** An item, with the bytes that were approved where they are needed: a price knows their number. */
export interface OrderedItem extends HeldItem {
  readonly content: Uint8Array | null;
}

/** The files of an order of items: named, and of the type, as they were approved. Pure. */
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
