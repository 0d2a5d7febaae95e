import { Pauses, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { compressed, isCompressible } from './compress-content.ts';
import { contentOf, type DataContent } from './data-url.ts';
import { metadataCbor } from './metadata-cbor.ts';
import type { ReadFile } from './read-files.ts';
import type { ReadOrder } from './read-order.ts';

/** An order whose contents are as they will be inscribed, as far as the request has them. */
export interface EncodedOrder {
  readonly kind: 'encoded';
  /** Contents at URLs are still the lengths that were sent. */
  readonly terms: OrderTerms;
  /** Files that `compress` asks for and that were counted as they are. */
  readonly notCompressed: number;
}

export interface EncodeOptions {
  /** `lengths`: bodies are not decoded unless they are compressed. `bytes`: they are in the terms. */
  readonly bodies: 'lengths' | 'bytes';
  /** Bytes of bodies that are compressed. */
  readonly compressMax: number;
  /** In whose turns they are decoded and compressed, and for how long: until it has left. */
  readonly asker: Asker;
}

/**
 * Metadata as CBOR, bodies decoded and in brotli where that is asked for. Throws the reason of the asker's signal, and
 * `overloaded`.
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

/** Which bodies are compressed: as many bytes as there may be. */
class Compression {
  readonly #isWanted: boolean;
  #bytes: number;
  /** Files that it had no room for, or whose contents are not there yet. */
  left = 0;

  constructor(isWanted: boolean, bytes: number) {
    this.#isWanted = isWanted;
    this.#bytes = bytes;
  }

  takes({ body, terms }: ReadFile): boolean {
    if (!this.#isWanted || terms.body === null || !isCompressible(terms.contentType)) return false;
    // what is at a URL is inscribed as it is
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
/** CBOR of JSON that the request has; else the length that it names. */
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
