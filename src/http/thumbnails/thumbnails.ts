import { LRUCache } from 'lru-cache';
import type { StoredBody } from '#chain/inscriptions/content.queries.ts';
import { decodedBytesMax } from '#http/content/content-measures.ts';
import { decodeContent } from '#http/content/decode-content.ts';
import { imageSize } from '#http/content/image-size.ts';
import { type ContentReads, contentsBusy } from '#http/server/budgets/content-reads.ts';
import { limits } from '#http/server/limits.ts';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { type Asker, ownAsker } from '#kernel/contracts/asker.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { drawnPixelsMax } from './drawing.ts';
import type { ThumbnailDrawer } from './thumbnail-drawer.ts';
import type { ThumbnailFiles } from './thumbnail-files.ts';

/** Increase it when the same image is drawn differently: part of each name and tag. */
export const drawingVersion = 1;

/** `none`: this content is never drawn. `given up`: not this time. */
export type Thumbnail =
  | { readonly kind: 'jpeg'; readonly jpeg: Buffer }
  | { readonly kind: 'none' }
  | { readonly kind: 'given up' };

/** An image on its way. */
interface Making {
  readonly made: Promise<Thumbnail>;
  readonly controller: AbortController;
  /** Requests that wait for it. */
  waiting: number;
}

/** Two of the longest images: each may take five seconds. */
const waitMs = 12_000;
/** Contents that could not be drawn, by their hash: 200 bytes each. */
const undrawnMax = 20_000;
/** A content that was given up is tried again after this time: a bomb takes the decoder less than 1 % of it. */
export const givenUpMs = 600_000;

export interface ThumbnailParts {
  readonly reads: ContentReads;
  readonly drawer: ThumbnailDrawer;
  /** Null: none are kept. */
  readonly files: ThumbnailFiles | null;
  /** Told of a file that could not be written. */
  readonly onUnwritten: (error: unknown) => void;
}

/**
 * Thumbnails of contents, each drawn once for all inscriptions that show it. One image is drawn at a time, clients in
 * turn; those that wait longer are refused (`contents_busy`). Requests for one content share its drawing: it is given
 * up when the last of them is gone before its turn came.
 */
export class Thumbnails {
  readonly #parts: ThumbnailParts;
  readonly #gate = new FairGate({ running: 1, waiting: limits.requests, waitMs, refusal: contentsBusy });
  readonly #makings = new Map<string, Making>();
  readonly #undrawn = new LRUCache<string, Exclude<Thumbnail['kind'], 'jpeg'>>({ max: undrawnMax });

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
  }

  /** Images that wait for the decoder. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /** Throws `contents_busy`, `not_found` where the body is gone, and the reason of an aborted signal. */
  async of(asker: Asker, body: StoredBody, encoding: EncodingName | null): Promise<Thumbnail> {
    const name = nameOf(body, encoding);
    const known = await this.#known(name);
    if (known !== null) return known;
    asker.signal.throwIfAborted();
    const making = this.#makings.get(name) ?? this.#begin(asker, name, body, encoding);
    return waitFor(making, asker.signal, (reason) => {
      // whoever asks from now on gets one that is not given up
      this.#forget(name, making);
      making.controller.abort(reason);
    });
  }

  async #known(name: string): Promise<Thumbnail | null> {
    const undrawn = this.#undrawn.get(name);
    if (undrawn !== undefined) return { kind: undrawn };
    const jpeg = (await this.#parts.files?.read(name)) ?? null;
    return jpeg === null ? null : { kind: 'jpeg', jpeg };
  }

  #begin(asker: Asker, name: string, body: StoredBody, encoding: EncodingName | null): Making {
    const controller = new AbortController();
    // others may wait for it when this asker is gone
    const own = ownAsker(asker.client, controller.signal);
    const making: Making = {
      made: this.#gate
        .run(own, () => this.#make(own, name, body, encoding))
        .finally(() => this.#forget(name, making)),
      controller,
      waiting: 0,
    };
    this.#makings.set(name, making);
    return making;
  }

  #forget(name: string, making: Making): void {
    if (this.#makings.get(name) === making) this.#makings.delete(name);
  }

  async #make(
    asker: Asker,
    name: string,
    body: StoredBody,
    encoding: EncodingName | null,
  ): Promise<Thumbnail> {
    // one whose askers had gone may have been drawn since
    const known = await this.#known(name);
    if (known !== null) return known;
    const image = await this.#imageOf(asker, body, encoding);
    const drawn = image === null ? ({ kind: 'none' } as const) : await this.#parts.drawer.draw(image);
    if (drawn.kind === 'jpeg') await this.#keep(name, drawn.jpeg);
    else this.#undrawn.set(name, drawn.kind, drawn.kind === 'none' ? {} : { ttl: givenUpMs });
    return drawn;
  }

  /** The bytes of an image within the bounds; null: there is none. */
  async #imageOf(asker: Asker, body: StoredBody, encoding: EncodingName | null): Promise<Buffer | null> {
    if (body.sizeBytes === 0 || body.sizeBytes > decodedBytesMax) return null;
    const pieces = await this.#parts.reads.pieces(asker, body, { from: 0, count: body.sizeBytes });
    const chunks: Buffer[] = [];
    if (encoding === null) for await (const piece of pieces) chunks.push(piece);
    else {
      let length = 0;
      const end = await decodeContent(encoding, inOrder(pieces), (chunk) => {
        length += chunk.length;
        chunks.push(chunk);
        return length <= decodedBytesMax;
      });
      if (end !== 'whole') return null;
    }
    const image = Buffer.concat(chunks);
    // what no browser would show is not given to a decoder
    const size = imageSize(image, true);
    if (size === null || size === 'more' || size.width * size.height > drawnPixelsMax) return null;
    return image;
  }

  /** A thumbnail that cannot be kept is sent all the same, and drawn again next time. */
  async #keep(name: string, jpeg: Buffer): Promise<void> {
    await this.#parts.files?.write(name, jpeg).catch(this.#parts.onUnwritten);
  }
}

/** What a thumbnail shows, in hexadecimal digits. */
export function nameOf({ sha256 }: StoredBody, encoding: EncodingName | null): string {
  const encodingDigit = encoding === null ? 0 : { br: 1, gzip: 2, zstd: 3 }[encoding];
  return `${Buffer.from(sha256).toString('hex')}${encodingDigit}${drawingVersion}`;
}

async function* inOrder(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* pieces;
}

/**
 * Waits until it is made, or the signal is aborted: its reason is thrown then.
 *
 * @param onLeft called when nobody waits for it any more
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
