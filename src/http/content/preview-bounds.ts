import { grouped, sizeWords } from '#web/format.ts';
import { type ContentMeasure, decodedBytesMax } from './content-measures.ts';

/** Maximum amount of data that a frame gives to a browser. A larger content is only described in words. */
export interface PreviewBounds {
  /** Maximum number of bytes of a body after decoding. */
  readonly decodedBytes: number;
  /** Maximum number of pixels of an image. A browser needs four bytes for each pixel. */
  readonly pixels: number;
}

/**
 * Bounds of a card in a list. A screen shows about twenty cards. `decodedBytes` is the maximum size of a body that a
 * block can contain without an encoding, so an encoding does not allow a larger body. `pixels` is 4,096 × 4,096, which
 * needs 64 MiB. Every card shows fewer pixels.
 */
const cardBounds: PreviewBounds = { decodedBytes: 4_000_000, pixels: 4_096 * 4_096 };

/**
 * Bounds of a frame that shows one inscription alone. A browser needs seconds for 16 MB of markup, and all known
 * contents above that size are decompression bombs. `pixels` is 8,192 × 8,192, which needs 256 MiB. Images of cameras
 * have fewer pixels.
 */
const aloneBounds: PreviewBounds = { decodedBytes: decodedBytesMax, pixels: 8_192 * 8_192 };

export type PreviewSize = 'card' | 'full';

export function boundsOf(size: PreviewSize): PreviewBounds {
  return size === 'card' ? cardBounds : aloneBounds;
}

/** The reason in words why a content is not shown. `null` if the content is within the bounds. */
export function tooLarge(
  storedBytes: number,
  { bytes, pixels }: ContentMeasure,
  bounds: PreviewBounds,
): string | null {
  if (bytes === 'broken') return `${sizeWords(storedBytes)} that do not decode`;
  if (bytes === 'more')
    return `${sizeWords(storedBytes)} that decode to more than ${sizeWords(decodedBytesMax)}`;
  // the size of the stored body is always allowed, because the chain contains that many bytes anyway
  if (bytes > bounds.decodedBytes && bytes > storedBytes)
    return `${sizeWords(storedBytes)} that decode to ${sizeWords(bytes)}`;
  if (pixels !== null && pixels.width * pixels.height > bounds.pixels)
    return `${grouped(pixels.width)} × ${grouped(pixels.height)} pixels`;
  return null;
}
