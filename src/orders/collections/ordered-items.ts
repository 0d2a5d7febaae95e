import type { HeldItem, HeldItems } from '#collections/selling/hold-request.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';

/** Items of a collection that an order inscribes, with the terms under which they are held. */
export interface OrderedItems extends QuotedItems, Pick<HeldItems, 'creatorAddress' | 'cheaper'> {
  /** Id of the order that holds the items. */
  readonly orderId: string;
  readonly collection: string;
}

/** Items, with the fields on which a price depends. */
export interface QuotedItems extends Pick<HeldItems, 'price' | 'runePrice'> {
  /** Whether the client named the numbers of the items. If false, the items are drawn at random. */
  readonly isRequested: boolean;
  /** One item for each file, in the sequence of the files. */
  readonly items: readonly OrderedItem[];
}

/**
 * An item with its approved bytes. If only a price is requested, `content` is null, because a price needs only the
 * number of bytes.
 */
export interface OrderedItem extends HeldItem {
  readonly content: Uint8Array | null;
}

/** The files of an order of items, with their approved names and types. Pure. */
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
