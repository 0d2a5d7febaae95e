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

/** Version of the drawing, a part of each name and tag. Increase it when the same image is drawn differently. */
export const drawingVersion = 2;

/**
 * Reason for a missing picture. `none`: this content is never drawn. `scripts`: only its scripts would draw it.
 * `inscriptions`: it needs other inscriptions that are not images of pixels, or too many. `given up`: this attempt
 * failed.
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
  /** Reads all bytes without their encoding; null: there are none to draw. */
  readonly image: (asker: Asker) => Promise<Buffer | null>;
  readonly kind: ImageOrder['kind'];
  readonly form: PictureForm;
}

/** Maximum bytes of an SVG: longer ones have only been seen in attacks, as text that takes librsvg seconds. */
const svgBytesMax = 4_000_000;

/** An image that is being drawn. */
interface Making {
  readonly made: Promise<Thumbnail>;
  readonly controller: AbortController;
  /** Requests that wait for it. */
  waiting: number;
}

/** Longest wait: two of the slowest images, which may take five seconds each. */
const waitMs = 12_000;
/** Contents that could not be drawn, by their hash: 200 bytes each. */
const undrawnMax = 20_000;
/** Time after which a given up content is tried again: a bomb then takes less than 1 % of the decoder's time. */
export const givenUpMs = 600_000;

export interface ThumbnailParts {
  readonly reads: ContentReads;
  readonly drawer: ThumbnailDrawer;
  /** Null: no thumbnails are kept. */
  readonly files: ThumbnailFiles | null;
  /** Receives the error of a file that could not be written. */
  readonly onUnwritten: (error: unknown) => void;
}

/**
 * Thumbnails of contents, each drawn once for all inscriptions that show it. One image is drawn at a time, and clients
 * take turns; requests that wait too long are refused (`contents_busy`). Requests for one content share its drawing,
 * which is given up if the last of them disconnects before its turn.
 */
export class Thumbnails {
  readonly #parts: ThumbnailParts;
  readonly #gate = new FairGate({ running: 1, waiting: limits.requests, waitMs, refusal: contentsBusy });
  readonly #makings = new Map<string, Making>();
  readonly #undrawn = new LRUCache<string, Undrawn>({ max: undrawnMax });

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
  }

  /** Images that wait for the decoder. */
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
      // later requests get a drawing that is not given up
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
    // others may wait for it when this client disconnects
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
    // an image may have been drawn after its clients disconnected
    const known = await this.#known(name);
    if (known !== null) return known;
    const image = await this.#imageOf(asker, art);
    if (typeof image === 'string') return this.#remember(name, image);
    const drawn = await this.#parts.drawer.draw({ image, kind: art.kind, form: art.form });
    if (drawn.kind !== 'picture') return this.#remember(name, drawn.kind);
    await this.#keep(name, drawn.picture);
    return drawn;
  }

  /** The bytes of an image within the bounds, or the reason why there are none. */
  async #imageOf(asker: Asker, art: Art): Promise<Buffer | Undrawn> {
    const image = await art.image(asker);
    if (image === null) return 'none';
    if (art.kind === 'svg') return svgOf(this.#parts.reads, asker, image);
    // an image that no browser would show is not given to a decoder
    const size = imageSize(image, true);
    if (size === null || size === 'more' || size.width * size.height > drawnPixelsMax) return 'none';
    return image;
  }

  #remember(name: string, why: Undrawn): Thumbnail {
    this.#undrawn.set(name, why, why === 'given up' ? { ttl: givenUpMs } : {});
    return { kind: 'undrawn', why };
  }

  /** Keeps a thumbnail. If that fails, it is still sent, and drawn again next time. */
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

/** An SVG with the images that it shows, or the reason why it is not drawn. */
async function svgOf(reads: ContentReads, asker: Asker, image: Buffer): Promise<Buffer | Undrawn> {
  // compressed ones are for files, and browsers do not show them
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
 * Waits until it is made, or until the signal is aborted: then throws its reason.
 *
 * @param onLeft called when no request waits for it any more
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
