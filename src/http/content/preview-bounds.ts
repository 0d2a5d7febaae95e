import { grouped, sizeWords } from '#web/format.ts';
import { type ContentMeasure, decodedBytesMax } from './content-measures.ts';

/** Maximum data that a frame hands to a browser. Larger contents are described in words instead. */
export interface PreviewBounds {
  /** Maximum bytes of a body without its encoding. */
  readonly decodedBytes: number;
  /** Maximum pixels of an image. A browser holds four bytes for each pixel. */
  readonly pixels: number;
}

/**
 * Bounds of a card in a list. A screen shows about twenty cards. Decoded bytes: the longest body that a block can
 * contain without an encoding, so that an encoding allows nothing larger. Pixels: 4,096 × 4,096, so 64 MiB, more than
 * any card shows.
 */
const cardBounds: PreviewBounds = { decodedBytes: 4_000_000, pixels: 4_096 * 4_096 };

/**
 * Bounds of a frame that shows one inscription alone. 16 MB of markup take a browser seconds, and only bombs have been
 * seen above that size. Pixels: 8,192 × 8,192, so 256 MiB, larger than the images of cameras.
 */
const aloneBounds: PreviewBounds = { decodedBytes: decodedBytesMax, pixels: 8_192 * 8_192 };

export type PreviewSize = 'card' | 'full';

export function boundsOf(size: PreviewSize): PreviewBounds {
  return size === 'card' ? cardBounds : aloneBounds;
}

/** The reason why a content is not shown, in words; null: the content is within the bounds. */
export function tooLarge(
  storedBytes: number,
  { bytes, pixels }: ContentMeasure,
  bounds: PreviewBounds,
): string | null {
  if (bytes === 'broken') return `${sizeWords(storedBytes)} that do not decode`;
  if (bytes === 'more')
    return `${sizeWords(storedBytes)} that decode to more than ${sizeWords(decodedBytesMax)}`;
  // stored bytes are allowed, because the chain has them already
  if (bytes > bounds.decodedBytes && bytes > storedBytes)
    return `${sizeWords(storedBytes)} that decode to ${sizeWords(bytes)}`;
  if (pixels !== null && pixels.width * pixels.height > bounds.pixels)
    return `${grouped(pixels.width)} × ${grouped(pixels.height)} pixels`;
  return null;
}
