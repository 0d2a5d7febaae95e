import { grouped, sizeWords } from '#web/format.ts';
import { type ContentMeasure, decodedBytesMax } from './content-measures.ts';

/** What a frame hands to a browser at most. Anything larger is told in words. */
export interface PreviewBounds {
  /** A body without its encoding. */
  readonly decodedBytes: number;
  /** An image, of which a browser holds four bytes a pixel. */
  readonly pixels: number;
}

/**
 * A card in a list, of which a screen shows some twenty. Decoded bytes: the longest body that a block can hold without
 * an encoding, so that an encoding makes nothing larger. Pixels: 4,096 × 4,096, so 64 MiB, more than any card shows.
 */
const cardBounds: PreviewBounds = { decodedBytes: 4_000_000, pixels: 4_096 * 4_096 };

/**
 * An inscription alone. 16 MB of markup take a browser seconds, and nothing but bombs has been seen above. Pixels:
 * 8,192 × 8,192, so 256 MiB, larger than what any camera makes.
 */
const aloneBounds: PreviewBounds = { decodedBytes: decodedBytesMax, pixels: 8_192 * 8_192 };

export type PreviewSize = 'card' | 'full';

export function boundsOf(size: PreviewSize): PreviewBounds {
  return size === 'card' ? cardBounds : aloneBounds;
}

/** Why a content is not shown, in words; null: it is within the bounds. */
export function tooLarge(
  storedBytes: number,
  { bytes, pixels }: ContentMeasure,
  bounds: PreviewBounds,
): string | null {
  if (bytes === 'broken') return `${sizeWords(storedBytes)} that do not decode`;
  if (bytes === 'more')
    return `${sizeWords(storedBytes)} that decode to more than ${sizeWords(decodedBytesMax)}`;
  // stored bytes are in the chain already
  if (bytes > bounds.decodedBytes && bytes > storedBytes)
    return `${sizeWords(storedBytes)} that decode to ${sizeWords(bytes)}`;
  if (pixels !== null && pixels.width * pixels.height > bounds.pixels)
    return `${grouped(pixels.width)} × ${grouped(pixels.height)} pixels`;
  return null;
}
