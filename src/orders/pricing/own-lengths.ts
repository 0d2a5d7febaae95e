import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import type { NamedFiles, OwnFiles } from '#orders/files/own-files.ts';
import { metadataCbor } from '#orders/reading/metadata-cbor.ts';
import { type ReadFile, urlsOf } from '#orders/reading/read-files.ts';
import type { ReadOrder } from '#orders/reading/read-order.ts';

/**
 * Maximum number of metadata bytes that one price reads. Reading a megabyte of JSON takes 20 ms of the event loop, and
 * even a small free request may name a megabyte.
 */
const metadataBytesMax = 1_000_000;

/**
 * An order with the real lengths of files at URLs of this service, so that its price equals the price of the order. If
 * a price would have to read too much metadata, the sent length is used, which is an assumption. Throws the reason of
 * the asker's signal.
 */
export async function withOwnLengths(
  read: ReadOrder,
  own: OwnFiles,
  asker: Asker,
): Promise<ReadOrder | Faulty> {
  const ours = await own.find(urlsOf(read.files), asker.signal);
  if (ours.isEmpty) return read;
  const lengths = new OwnLengths(ours, asker);
  const files: ReadFile[] = [];
  for (const file of read.files) files.push(await lengths.of(file));
  const { faults, assumed } = lengths.values;
  if (faults.length > 0) return { kind: 'faulty', faults };
  const { named, count } = read.assumed;
  return { ...read, files, assumed: { named: [...named, ...assumed.named], count: count + assumed.count } };
}

class OwnLengths {
  readonly values = new RequestValues();
  readonly #ours: NamedFiles;
  readonly #asker: Asker;
  #metadataBytes = 0;

  constructor(ours: NamedFiles, asker: Asker) {
    this.#ours = ours;
    this.#asker = asker;
  }

  async of(file: ReadFile): Promise<ReadFile> {
    if (this.values.isFull) return file;
    const { body, metadata, terms } = file;
    return {
      ...file,
      terms: {
        ...terms,
        body: (body?.kind === 'url' ? this.#bytes(body.url, `${file.field}.url`) : null) ?? terms.body,
        metadata:
          (metadata?.kind === 'url' ? await this.#cborBytes(metadata.url, file) : null) ?? terms.metadata,
      },
    };
  }

  /** Length of the file at a URL of this service. Returns null for any other URL, and if the file has a fault. */
  #bytes(url: string, field: string): number | null {
    const bytes = this.#ours.bytesAt(url);
    return typeof bytes === 'string' ? this.values.fault(field, bytes) : bytes;
  }

  /**
   * Length of the metadata as CBOR at a URL of this service. Returns null for any other URL, and if the metadata has a
   * fault or its length is assumed.
   */
  async #cborBytes(url: string, { field, terms }: ReadFile): Promise<number | null> {
    const name = `${field}.metadataUrl`;
    const bytes = this.#bytes(url, name);
    if (bytes === null) return null;
    this.#metadataBytes += bytes;
    if (this.#metadataBytes > metadataBytesMax) {
      if (terms.metadata === null)
        this.values.sentence(`${field}.metadataSize`, `${field}.metadataSize is required.`);
      this.values.assume('the metadata of ', field);
      return null;
    }
    await nextTurn(this.#asker.client);
    this.#asker.signal.throwIfAborted();
    const json = await this.#ours.read(url);
    if (typeof json === 'string') return this.values.fault(name, json);
    const read = metadataCbor(json);
    if (read.kind === 'cbor') return read.cbor.length;
    for (const reason of read.reasons) this.values.sentence(name, `${name}: its response ${reason}`);
    return null;
  }
}
