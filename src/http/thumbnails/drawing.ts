/** Messages to the decoder's process, and answers of this process. */

/** The formats of pictures. WebP keeps transparency, and JPEG has a white background. */
export const pictureForms = ['jpeg', 'webp'] as const;
export type PictureForm = (typeof pictureForms)[number];

/** An image to draw. */
export interface ImageOrder {
  readonly image: Buffer;
  /** `svg` for a text that is drawn, and `pixels` for an image that is decoded. */
  readonly kind: 'svg' | 'pixels';
  readonly form: PictureForm;
}

/** A picture with texts, which sites show for a link to a page. */
export interface CardOrder {
  readonly kind: 'card';
  /** The name of the kind of page. */
  readonly head: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The network's name, shown in a corner of the picture. */
  readonly network: string;
  /** A JPEG that this service drew. `null` if the picture shows no thumbnail. */
  readonly thumbnail: Buffer | null;
}

export type AnyOrder = ImageOrder | CardOrder;

/** A request to draw. The answer repeats its number. */
export type DrawingOrder = AnyOrder & { readonly number: number };

/** `picture` if the picture was drawn. `none` if the bytes are not an image of a supported format. */
export type Drawing = { readonly kind: 'picture'; readonly picture: Buffer } | { readonly kind: 'none' };

export interface DrawingAnswer {
  readonly number: number;
  readonly drawing: Drawing;
}

/**
 * Maximum number of pixels of an image. With four bytes each, the pixels take 200 MB in formats that are decoded in one
 * step. Images of cameras have 50 million pixels at most, and inscriptions have less than 4 MB.
 */
export const drawnPixelsMax = 50_000_000;
