import { Pauses, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { compressed, isCompressible } from './compress-content.ts';
import { contentOf, type DataContent } from './data-url.ts';
import { metadataCbor } from './metadata-cbor.ts';
import type { ReadFile } from './read-files.ts';
import type { ReadOrder } from './read-order.ts';

/** An order with its contents in their inscribed form, if the request has them. */
export interface EncodedOrder {
  readonly kind: 'encoded';
  /** Contents at URLs are still lengths, as the client sent them. */
  readonly terms: OrderTerms;
  /** Number of files with `compress` that are priced uncompressed. */
  readonly notCompressed: number;
}

export interface EncodeOptions {
  /** `lengths`: bodies are decoded only if they are compressed. `bytes`: the terms have all bodies. */
  readonly bodies: 'lengths' | 'bytes';
  /** Maximum number of body bytes to compress. */
  readonly compressMax: number;
  /** The client in whose turns decoding and compression run. Both stop when the client disconnects. */
  readonly asker: Asker;
}

/**
 * Encodes metadata as CBOR, and decodes bodies. Compresses bodies in brotli if the order asks for it. Throws the reason
 * of the asker's signal, and `overloaded`.
 */
export async function encodeContents(
  { terms, files, compress }: ReadOrder,
  options: EncodeOptions,
): Promise<EncodedOrder | Faulty> {
  const values = new RequestValues();
  const compression = new Compression(compress, options.compressMax);
  const pauses = new Pauses(options.asker);
  const encoded: FileTerms[] = [];
  for (const file of files) {
    const metadata = await pauses.run(encodeMetadata(values, file));
    const isCompressed = compression.takes(file);
    const data = options.bodies === 'bytes' || isCompressed ? dataOf(file.body) : null;
    const body = data === null ? null : await pauses.run(contentOf(data));
    const shorter =
      isCompressed && body !== null ? await compressed(body, file.terms.contentType, options.asker) : null;
    encoded.push({ ...file.terms, metadata, ...bodyTerms(file.terms, body, shorter) });
  }
  const { faults } = values;
  if (faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'encoded', terms: { ...terms, files: encoded }, notCompressed: compression.left };
}

/** Selects the bodies to compress, up to a maximum number of bytes. */
class Compression {
  readonly #isWanted: boolean;
  #bytes: number;
  /** Number of files beyond the maximum, or with contents that are not known yet. */
  left = 0;

  constructor(isWanted: boolean, bytes: number) {
    this.#isWanted = isWanted;
    this.#bytes = bytes;
  }

  takes({ body, terms }: ReadFile): boolean {
    if (!this.#isWanted || terms.body === null || !isCompressible(terms.contentType)) return false;
    // contents at URLs are inscribed uncompressed
    if (body?.kind === 'url') return false;
    const bytes = dataOf(body)?.bytes ?? Number.POSITIVE_INFINITY;
    if (bytes > this.#bytes) {
      this.left++;
      return false;
    }
    this.#bytes -= bytes;
    return true;
  }
}

function bodyTerms(
  terms: FileTerms,
  body: Uint8Array | null,
  shorter: Uint8Array | null,
): Pick<FileTerms, 'body' | 'contentEncoding'> {
  if (shorter !== null) return { body: shorter, contentEncoding: 'br' };
  return { body: body ?? terms.body, contentEncoding: null };
}

const dataOf = (source: ReadFile['body']): DataContent | null =>
  source?.kind === 'data' ? source.data : null;
/** The metadata as CBOR, if the request has JSON. Otherwise the length that the request names. */
function* encodeMetadata(
  values: RequestValues,
  { terms, metadata, field }: ReadFile,
): Steps<FileTerms['metadata']> {
  const data = dataOf(metadata);
  if (data === null) return terms.metadata;
  const read = metadataCbor(yield* contentOf(data));
  if (read.kind === 'cbor') return read.cbor;
  for (const reason of read.reasons) values.fault(`${field}.metadataDataURL`, reason);
  return null;
}
