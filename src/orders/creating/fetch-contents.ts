import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import { fileBytesMax } from '#orders/files/file-bounds.ts';
import type { NamedFiles } from '#orders/files/own-files.ts';
import { metadataCbor } from '#orders/reading/metadata-cbor.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';
import { fetchFile } from '#outgoing/fetch-file.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';

/** Contents of an order that were fetched from URLs, by the index of their file. */
export interface FetchedContents {
  readonly bodies: ReadonlyMap<number, Uint8Array>;
  /** Metadata as CBOR. */
  readonly metadata: ReadonlyMap<number, Uint8Array>;
  readonly faults: readonly RequestFault[];
}

/**
 * Maximum time to fetch all files of one order, in ms. The client and its connection wait meanwhile. This service and
 * common proxies close silent connections after 60 s. The remaining time is for the rest of the order, so that the
 * client still receives the reason.
 */
export const fetchedWithinMs = 45_000;
/**
 * Maximum number of files of one order that are fetched at the same time. The guarded HTTP client also limits requests
 * to one host.
 */
const atOnce = 8;
/** Maximum number of bytes of all fetched files of one order. The limit is the same as for data URLs. */
const totalMax = 50_000_000;

/**
 * Fetches the contents that an order names by URL. Orders are stored only after this, so no address is shown before all
 * bytes are known. Files of this service are read from disk. If the client disconnects, throws the signal's reason and
 * fetches nothing more.
 */
export async function fetchContents(
  outgoing: OutgoingHttp,
  ours: NamedFiles,
  files: readonly ReadFile[],
  client: AbortSignal,
  withinMs = fetchedWithinMs,
): Promise<FetchedContents> {
  const values = new RequestValues();
  const bodies = new Map<number, Uint8Array>();
  const metadata = new Map<number, Uint8Array>();
  let total = 0;
  const late = AbortSignal.timeout(withinMs);
  const signal = AbortSignal.any([client, late]);
  const bounds = { bytesMax: fileBytesMax, timeoutMs: withinMs, signal };
  // late files get one common fault at the end, so ignore their errors here
  const unlessLate = (error: unknown): null => {
    if (signal.aborted) return null;
    throw error;
  };
  const get = async (url: string, field: string): Promise<Uint8Array | null> => {
    const isOurs = ours.bytesAt(url) !== null;
    const got = await (isOurs ? ours.read(url) : fetchFile(outgoing, url, bounds).catch(unlessLate));
    if (typeof got === 'string') return values.fault(field, got);
    total += got?.length ?? 0;
    return got;
  };
  const isOpen = (): boolean => !signal.aborted && total <= totalMax && !values.isFull;
  const tasks = files.flatMap(({ body, metadata: given, field }, index) => [
    ...(body?.kind === 'url'
      ? [
          async () => {
            const bytes = await get(body.url, `${field}.url`);
            if (bytes !== null) bodies.set(index, bytes);
          },
        ]
      : []),
    ...(given?.kind === 'url'
      ? [
          async () => {
            const bytes = await get(given.url, `${field}.metadataUrl`);
            if (bytes === null) return;
            const read = metadataCbor(bytes);
            if (read.kind === 'cbor') metadata.set(index, read.cbor);
            else
              for (const reason of read.reasons)
                values.sentence(`${field}.metadataUrl`, `${field}.metadataUrl: its response ${reason}`);
          },
        ]
      : []),
  ]);
  await inLanes(tasks, atOnce, async (task) => {
    if (isOpen()) await task();
  });
  client.throwIfAborted();
  if (total > totalMax) values.fault('files', `have more than ${totalMax} bytes at their URLs`);
  if (late.aborted)
    values.fault(
      'files',
      `were not all fetched within ${withinMs / 1000} seconds; send them as dataURL, or in several orders`,
    );
  return { bodies, metadata, faults: values.faults };
}
