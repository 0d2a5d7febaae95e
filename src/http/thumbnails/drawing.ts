/** What the decoder's process is sent, and what it answers. */

/** An image to draw. */
export interface DrawingOrder {
  readonly number: number;
  readonly image: Buffer;
}

/** `jpeg`: drawn. `none`: these bytes are no image that is decoded here, whoever tries. */
export type Drawing = { readonly kind: 'jpeg'; readonly jpeg: Buffer } | { readonly kind: 'none' };

export interface DrawingAnswer {
  readonly number: number;
  readonly drawing: Drawing;
}

/**
 * More pixels are not decoded. Four bytes each are 200 MB, in formats that are decoded whole; cameras make 50 million
 * at most, and inscriptions have less than 4 MB.
 */
export const drawnPixelsMax = 50_000_000;
