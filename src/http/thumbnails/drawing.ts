/** Messages to the decoder's process, and its answers. */

/** The formats of pictures: WebP keeps transparency, JPEG has a white background. */
export const pictureForms = ['jpeg', 'webp'] as const;
export type PictureForm = (typeof pictureForms)[number];

/** An image to draw. */
export interface ImageOrder {
  readonly image: Buffer;
  /** `svg`: a text, which is drawn; `pixels`: an image, which is decoded. */
  readonly kind: 'svg' | 'pixels';
  readonly form: PictureForm;
}

/** A picture of texts, shown with links to a page. */
export interface CardOrder {
  readonly kind: 'card';
  /** The kind of the page. */
  readonly head: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** Network, shown in its corner. */
  readonly network: string;
  /** A JPEG that we drew; null: there is none. */
  readonly thumbnail: Buffer | null;
}

export type AnyOrder = ImageOrder | CardOrder;

/** An order, with the number that its answer repeats. */
export type DrawingOrder = AnyOrder & { readonly number: number };

/** `picture`: drawn. `none`: these bytes are not an image that is decoded here. */
export type Drawing = { readonly kind: 'picture'; readonly picture: Buffer } | { readonly kind: 'none' };

export interface DrawingAnswer {
  readonly number: number;
  readonly drawing: Drawing;
}

/**
 * Maximum pixels that are decoded. With four bytes each they take 200 MB, in formats that are decoded whole. Cameras
 * make 50 million at most, and inscriptions have less than 4 MB.
 */
export const drawnPixelsMax = 50_000_000;
