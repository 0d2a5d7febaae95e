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

/** The decoded size of a content. A browser needs memory for this size to show the content. */
export interface ContentMeasure {
  /**
   * Number of decoded bytes. `more` means above `decodedBytesMax`. `broken` means that the body does not match its
   * encoding.
   */
  readonly bytes: number | 'more' | 'broken';
  /** Size of an image in pixels. `null` if the image does not state its size, or if the content is not an image. */
  readonly pixels: ImageSize | null;
}

/**
 * Maximum number of bytes that are decoded of a content. A frame that shows one inscription alone has the same bound
 * (preview-bounds.ts).
 */
export const decodedBytesMax = 16_000_000;

/**
 * Maximum number of measurements that run at the same time. While one decodes, it uses one of libuv's four threads and
 * up to 16 MB. Two leave half of the threads for other work.
 */
const measuringMax = 2;
/**
 * Maximum number of waiting measurements. It equals the maximum number of open requests, as for reads. Measuring a body
 * of 16 MB takes 60 ms.
 */
const waitingMax = limits.requests;
const waitMs = 5_000;
/** Maximum number of measurements that are kept. Each needs about 300 bytes with its key, so all need 6 MB. */
const keptMax = 20_000;

/** A stored body, and the encoding that browsers decode. */
export interface EncodedBody {
  readonly body: StoredBody;
  readonly encoding: EncodingName | null;
}

/**
 * Measures contents for previews, because their decoded size and their size in pixels are not stored. A body is
 * identified by its hash and never changes, so it is measured once and the result is kept. The number of measurements
 * that run or wait at the same time is limited; further requests are refused (`contents_busy`).
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
   * @param asker the client; reads stop when it disconnects
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
   * The first bytes of a decoded content, at most `count`. Returns null if the bytes do not match the encoding. Only as
   * many bytes are decoded as needed.
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
