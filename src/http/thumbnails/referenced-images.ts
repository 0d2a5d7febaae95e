import { findContent } from '#chain/inscriptions/content.queries.ts';
import { imageSize } from '#http/content/image-size.ts';
import { undoneEncoding } from '#http/content/preview.routes.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { drawnPixelsMax } from './drawing.ts';
import { wholeBody } from './whole-body.ts';

/**
 * Maximum number of bytes of all images in one SVG, without their content encodings. It is the size of a full block.
 */
const bytesMax = 4_000_000;
/**
 * Maximum number of pixels of all images in one SVG. They are decoded to four bytes per pixel, in addition to the
 * drawing.
 */
const pixelsMax = drawnPixelsMax / 2;

/**
 * `unknown` if a referenced inscription is not known yet, or does not exist. `none` if a referenced inscription is not
 * an image of pixels, or if all images together are too large.
 */
export type ReferencedImages =
  | { readonly kind: 'read'; readonly addresses: ReadonlyMap<string, string> }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' };

/** The images that an SVG shows. They are `data:` URLs, by the ids of their inscriptions. */
export async function referencedImages(
  reads: ContentReads,
  asker: Asker,
  ids: readonly InscriptionId[],
): Promise<ReferencedImages> {
  const addresses = new Map<string, string>();
  let bytes = 0;
  let pixels = 0;
  for (const id of ids) {
    const lookup = await reads.read(asker, (client) => findContent(client, id));
    if (lookup.kind !== 'found') return { kind: 'unknown' };
    const { body, contentEncoding } = lookup.content;
    const encoding = undoneEncoding(contentEncoding);
    if (body === null || encoding === 'unknown') return { kind: 'none' };
    const image = await wholeBody(reads, asker, { body, encoding }, bytesMax - bytes);
    const size = image === null ? null : imageSize(image, true);
    if (image === null || size === null || size === 'more') return { kind: 'none' };
    const type = drawableType(image);
    bytes += image.length;
    pixels += size.width * size.height;
    if (type === null || pixels > pixelsMax) return { kind: 'none' };
    addresses.set(formatInscriptionId(id.txid, id.index), `data:${type};base64,${image.toString('base64')}`);
  }
  return { kind: 'read', addresses };
}

/**
 * The content type of an image that can be decoded within an SVG: PNG, JPEG, GIF or WebP. `null` for any other content.
 */
function drawableType(image: Buffer): string | null {
  const first = image.toString('latin1', 0, 12);
  if (first.startsWith('\x89PNG')) return 'image/png';
  if (first.startsWith('\xff\xd8')) return 'image/jpeg';
  if (first.startsWith('GIF8')) return 'image/gif';
  return first.startsWith('RIFF') && first.endsWith('WEBP') ? 'image/webp' : null;
}
