import { LRUCache } from 'lru-cache';
import { readBodyPart, type StoredBody } from '#chain/inscriptions/content.queries.ts';
import { type ContentReads, contentsBusy, pieceBytes } from '#http/server/budgets/content-reads.ts';
import { limits } from '#http/server/limits.ts';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { decodeContent } from './decode-content.ts';
import { type ImageSize, imageSize } from './image-size.ts';

/** Memory that a browser needs to show a content. */
export interface ContentMeasure {
  /** Number of decoded bytes. `more`: above `decodedBytesMax`. `broken`: the body does not match its encoding. */
  readonly bytes: number | 'more' | 'broken';
  /** Size of an image. Null: the image states no size, or the content is not an image. */
  readonly pixels: ImageSize | null;
}

/**
 * Maximum number of bytes that are ever decoded of a content. It is also the bound of a frame that shows one
 * inscription alone (preview-bounds.ts).
 */
export const decodedBytesMax = 16_000_000;

/**
 * Maximum number of measures that run at the same time. Each takes one of libuv's four threads while it decodes, and up
 * to 16 MB, so two leave half of the pool for other work.
 */
const measuringMax = 2;
/**
 * Maximum number of waiting measures: all requests that are being answered, as for reads. A body of 16 MB takes 60 ms.
 */
const waitingMax = limits.requests;
const waitMs = 5_000;
/** Maximum number of kept measures. Each takes about 300 bytes with its key, so all take 6 MB. */
const keptMax = 20_000;

/** A stored body, and the encoding that browsers undo. */
export interface EncodedBody {
  readonly body: StoredBody;
  readonly encoding: EncodingName | null;
}

/**
 * Measures contents for previews, because their decoded size and their size in pixels are not stored. Bodies are named
 * by their hash and never change, so a measure is made once and kept. A limited number of measures runs at the same
 * time, and a limited number waits; further requests are refused (`contents_busy`).
 */
export class ContentMeasures {
  readonly #reads: ContentReads;
  readonly #gate = new FairGate({
    running: measuringMax,
    waiting: waitingMax,
    waitMs,
    refusal: contentsBusy,
  });
  readonly #kept = new LRUCache<string, ContentMeasure>({ max: keptMax });

  constructor(reads: ContentReads) {
    this.#reads = reads;
  }

  /**
   * Measures a content.
   *
   * @param isImage whether the size in pixels is needed
   * @param asker the client; reads end when it disconnects
   */
  async measure(asker: Asker, content: EncodedBody, isImage: boolean): Promise<ContentMeasure> {
    const { body, encoding } = content;
    if (encoding === null && !isImage) return { bytes: body.sizeBytes, pixels: null };
    const key = `${isImage ? 'image' : 'bytes'} ${encoding ?? ''} ${Buffer.from(body.sha256).toString('base64')}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    return this.#gate.run(asker, async () => {
      const made = this.#kept.get(key) ?? (await this.#made(asker, content, isImage));
      this.#kept.set(key, made);
      return made;
    });
  }

  /**
   * The first bytes of a decoded content, at most `count`; null if the bytes do not match the encoding. No more bytes
   * are decoded than needed.
   */
  async head(
    asker: Asker,
    { body, encoding }: EncodedBody,
    count: number,
  ): Promise<{ readonly bytes: Buffer; readonly isCut: boolean } | null> {
    if (encoding === null) {
      const bytes = await this.#part(asker, body, 0, count);
      return { bytes, isCut: body.sizeBytes > count };
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const end = await this.#gate.run(asker, () =>
      decodeContent(encoding, this.#pieces(asker, body), (chunk) => {
        chunks.push(chunk);
        length += chunk.length;
        return length <= count;
      }),
    );
    if (end === 'broken') return null;
    return { bytes: Buffer.concat(chunks).subarray(0, count), isCut: length > count };
  }

  async #made(asker: Asker, content: EncodedBody, isImage: boolean): Promise<ContentMeasure> {
    const { body, encoding } = content;
    if (encoding === null) {
      const bytes = body.sizeBytes;
      const first = await this.#part(asker, body, 0, pieceBytes);
      const size = imageSize(first, first.length === bytes);
      if (size !== 'more') return { bytes, pixels: size };
      const all = [first];
      for await (const piece of this.#pieces(asker, body, first.length)) all.push(piece);
      return { bytes, pixels: pixelsOf(Buffer.concat(all)) };
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const end = await decodeContent(encoding, this.#pieces(asker, body), (chunk) => {
      length += chunk.length;
      if (isImage) chunks.push(chunk);
      return length <= decodedBytesMax;
    });
    if (end !== 'whole') return { bytes: end === 'enough' ? 'more' : 'broken', pixels: null };
    return { bytes: length, pixels: isImage ? pixelsOf(Buffer.concat(chunks)) : null };
  }

  async *#pieces(asker: Asker, body: StoredBody, from = 0): AsyncGenerator<Buffer> {
    for (let at = from; at < body.sizeBytes; at += pieceBytes)
      yield await this.#part(asker, body, at, pieceBytes);
  }

  async #part(asker: Asker, body: StoredBody, from: number, count: number): Promise<Buffer> {
    const part = await this.#reads.read(asker, (client) => readBodyPart(client, body, { from, count }));
    if (part === null) throw new AppError('not_found', 'this inscription no longer has a content');
    return part;
  }
}

function pixelsOf(bytes: Buffer): ImageSize | null {
  const size = imageSize(bytes, true);
  return size === 'more' ? null : size;
}
