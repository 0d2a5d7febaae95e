import { LRUCache } from 'lru-cache';
import { decodedBytesMax } from '#http/content/content-measures.ts';
import { imageSize } from '#http/content/image-size.ts';
import { type ContentReads, contentsBusy } from '#http/server/budgets/content-reads.ts';
import { limits } from '#http/server/limits.ts';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { type Asker, ownAsker } from '#kernel/contracts/asker.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { drawnPixelsMax, type ImageOrder, type PictureForm, pictureForms } from './drawing.ts';
import { referencedImages } from './referenced-images.ts';
import { referencesMax, svgNeeds, withReferences } from './svg-art.ts';
import type { ThumbnailDrawer } from './thumbnail-drawer.ts';
import type { ThumbnailFiles } from './thumbnail-files.ts';

/**
 * Version of the drawing. It is part of the name and of the entity tag of each stored thumbnail. Increase it when the
 * same image is drawn differently.
 */
export const drawingVersion = 2;

/**
 * Reason for a missing picture.
 * - `none`: this content is never drawn.
 * - `scripts`: only the content's scripts would draw the picture.
 * - `inscriptions`: the content needs other inscriptions that are not images of pixels, or needs too many inscriptions.
 * - `given up`: this attempt failed.
 */
export type Undrawn = 'none' | 'scripts' | 'inscriptions' | 'given up';

export type Thumbnail =
  | { readonly kind: 'picture'; readonly picture: Buffer }
  | { readonly kind: 'undrawn'; readonly why: Undrawn };

/** A content to draw. */
export interface Art {
  /** Hash of the stored bytes. */
  readonly sha256: Uint8Array;
  readonly encoding: EncodingName | null;
  /** Reads all bytes, decoded. `null` if there are no bytes to draw. */
  readonly image: (asker: Asker) => Promise<Buffer | null>;
  readonly kind: ImageOrder['kind'];
  readonly form: PictureForm;
}

/** Maximum number of bytes of an SVG. Longer SVGs were only seen in attacks. Their text takes librsvg seconds. */
const svgBytesMax = 4_000_000;

/** An image that is being drawn. */
interface Making {
  readonly made: Promise<Thumbnail>;
  readonly controller: AbortController;
  /** Number of requests that wait for the image. */
  waiting: number;
}

/**
 * How long a request waits at most, in ms. It is enough for two of the slowest images, which may take five seconds
 * each.
 */
const waitMs = 12_000;
/**
 * Maximum number of remembered contents that could not be drawn. Each takes 200 bytes, and is remembered by its hash.
 */
const undrawnMax = 20_000;
/**
 * How long a content is not tried again after it was given up, in ms. An image bomb then takes less than 1 % of the
 * decoder's time.
 */
export const givenUpMs = 600_000;

export interface ThumbnailParts {
  readonly reads: ContentReads;
  readonly drawer: ThumbnailDrawer;
  /** The stored thumbnails. `null` if thumbnails are not stored. */
  readonly files: ThumbnailFiles | null;
  /** Receives the error of a file that could not be written. */
  readonly onUnwritten: (error: unknown) => void;
}

/**
 * Thumbnails of contents. Each content is drawn once for all inscriptions that show the content. One image is drawn at
 * a time, and clients take turns. Requests that wait too long are refused (`contents_busy`). Requests for the same
 * content share one drawing. If all these requests are abandoned before the drawing begins, the drawing is cancelled.
 */
export class Thumbnails {
  readonly #parts: ThumbnailParts;
  readonly #gate = new FairGate({ running: 1, waiting: limits.requests, waitMs, refusal: contentsBusy });
  readonly #makings = new Map<string, Making>();
  readonly #undrawn = new LRUCache<string, Undrawn>({ max: undrawnMax });

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
  }

  /** Number of images that wait for the decoder, and the limit of this number. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /**
   * The thumbnail of a content. Throws `contents_busy`, `not_found` if the body is missing, and the reason of an
   * aborted signal.
   */
  async of(asker: Asker, art: Art): Promise<Thumbnail> {
    const name = nameOf(art);
    const known = await this.#known(name);
    if (known !== null) return known;
    asker.signal.throwIfAborted();
    const making = this.#makings.get(name) ?? this.#begin(asker, name, art);
    return waitFor(making, asker.signal, (reason) => {
      // this drawing is cancelled, so later requests must start a new drawing
      this.#forget(name, making);
      making.controller.abort(reason);
    });
  }

  async #known(name: string): Promise<Thumbnail | null> {
    const undrawn = this.#undrawn.get(name);
    if (undrawn !== undefined) return { kind: 'undrawn', why: undrawn };
    const picture = (await this.#parts.files?.read(name)) ?? null;
    return picture === null ? null : { kind: 'picture', picture };
  }

  #begin(asker: Asker, name: string, art: Art): Making {
    const controller = new AbortController();
    // the drawing must not end when this client disconnects, because other clients may wait for it
    const own = ownAsker(asker.client, controller.signal);
    const making: Making = {
      made: this.#gate.run(own, () => this.#make(own, name, art)).finally(() => this.#forget(name, making)),
      controller,
      waiting: 0,
    };
    this.#makings.set(name, making);
    return making;
  }

  #forget(name: string, making: Making): void {
    if (this.#makings.get(name) === making) this.#makings.delete(name);
  }

  async #make(asker: Asker, name: string, art: Art): Promise<Thumbnail> {
    // the image may have been drawn already, for clients that then disconnected
    const known = await this.#known(name);
    if (known !== null) return known;
    const image = await this.#imageOf(asker, art);
    if (typeof image === 'string') return this.#remember(name, image);
    const drawn = await this.#parts.drawer.draw({ image, kind: art.kind, form: art.form });
    if (drawn.kind !== 'picture') return this.#remember(name, drawn.kind);
    await this.#keep(name, drawn.picture);
    return drawn;
  }

  /** The bytes of an image within the bounds, or the reason why the image is not drawn. */
  async #imageOf(asker: Asker, art: Art): Promise<Buffer | Undrawn> {
    const image = await art.image(asker);
    if (image === null) return 'none';
    if (art.kind === 'svg') return svgOf(this.#parts.reads, asker, image);
    // the decoder never gets an image that no browser would show
    const size = imageSize(image, true);
    if (size === null || size === 'more' || size.width * size.height > drawnPixelsMax) return 'none';
    return image;
  }

  #remember(name: string, why: Undrawn): Thumbnail {
    this.#undrawn.set(name, why, why === 'given up' ? { ttl: givenUpMs } : {});
    return { kind: 'undrawn', why };
  }

  /** Stores a thumbnail. If storing fails, the thumbnail is still sent, and drawn again for the next request. */
  async #keep(name: string, picture: Buffer): Promise<void> {
    await this.#parts.files?.write(name, picture).catch(this.#parts.onUnwritten);
  }
}

/** A name for everything that a thumbnail shows, in hexadecimal digits. */
export function nameOf({ sha256, encoding, kind, form }: Art): string {
  const encodingDigit = encoding === null ? 0 : { br: 1, gzip: 2, zstd: 3 }[encoding];
  const kindDigit = kind === 'svg' ? 1 : 0;
  const hash = Buffer.from(sha256).toString('hex');
  return `${hash}${encodingDigit}${kindDigit}${pictureForms.indexOf(form)}${drawingVersion}`;
}

/** An SVG with the images that it shows, or the reason why the SVG is not drawn. */
async function svgOf(reads: ContentReads, asker: Asker, image: Buffer): Promise<Buffer | Undrawn> {
  // compressed SVGs are for files, and browsers do not show them
  const svg = image[0] === 0x1f || image.length > svgBytesMax ? null : utf8OrNull(image);
  if (svg === null) return 'none';
  const needs = svgNeeds(svg);
  if (needs.kind === 'none') return image;
  if (needs.kind === 'scripts') return 'scripts';
  if (needs.ids.length > referencesMax) return 'inscriptions';
  const images = await referencedImages(reads, asker, needs.ids);
  if (images.kind === 'unknown') return 'given up';
  if (images.kind === 'none') return 'inscriptions';
  const whole = withReferences(svg, (id) => images.addresses.get(id) ?? null, decodedBytesMax);
  return whole === null ? 'inscriptions' : Buffer.from(whole);
}

/**
 * Waits until the image is drawn. If the signal is aborted before, throws the signal's reason.
 *
 * @param onLeft called when no request waits for the image any more
 */
function waitFor(making: Making, signal: AbortSignal, onLeft: (reason: unknown) => void): Promise<Thumbnail> {
  making.waiting++;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      making.waiting--;
      if (making.waiting === 0) onLeft(signal.reason);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const settled = (): void => signal.removeEventListener('abort', onAbort);
    making.made.then(
      (thumbnail) => {
        settled();
        resolve(thumbnail);
      },
      (error: unknown) => {
        settled();
        reject(error as Error);
      },
    );
  });
}
