import type pg from 'pg';
import type { CollectionFile } from '#collections/collection/files.store.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { contentTypeOf } from '#kernel/requests/file-types.ts';
import { fetchFile } from '#outgoing/fetch-file.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { type ApprovalFault, type ApprovalOptions, contentFault } from './approval-faults.ts';
import type { ContentsDisk, OwnContents } from './contents-disk.ts';
import { noteContents, type StoredContent } from './stored-files.store.ts';

/** Timeout of one file: as long as a customer's order waits for all of its files. */
const fetchTimeoutMs = 60_000;
/**
 * Files that are fetched at once: a host has at most four of them, because the guarded client allows it that many
 * connections.
 */
const hostsAtOnce = 8;
const atOnceEach = 4;
/** Contents that are noted by one statement: after a crash as many are fetched again. */
const notedTogether = 50;
/** Faults after which nothing more is fetched: a missing host gives the same fault for each of its files. */
const faultsMax = 100;

export interface FetchParts {
  readonly pool: pg.Pool;
  readonly disk: ContentsDisk;
  readonly own: OwnContents;
  readonly outgoing: OutgoingHttp;
  readonly signal: AbortSignal;
  /** Called with the number of files that are stored, and their bytes. */
  readonly onStored: (files: number, bytes: number) => void;
}

/** Faults of fetched files, and the number of files that were not tried after too many faults. */
interface Fetched {
  readonly faults: readonly ApprovalFault[];
  readonly untried: number;
}

/**
 * Fetches files of a pending collection from their URLs, each once, and stores their bytes. Stored files are noted at
 * once, so the next run fetches only the others. Memory: 32 files.
 */
export async function fetchFiles(
  parts: FetchParts,
  collection: string,
  files: readonly CollectionFile[],
  options: ApprovalOptions,
): Promise<Fetched> {
  const { pool, disk, signal, onStored } = parts;
  const faults: ApprovalFault[] = [];
  let noted: StoredContent[] = [];
  let stored = 0;
  let storedBytes = 0;
  let tried = 0;
  const note = async (): Promise<void> => {
    const contents = noted;
    noted = [];
    if (contents.length > 0) await noteContents(pool, collection, contents);
  };
  const store = async ({ place, name, url }: CollectionFile): Promise<void> => {
    if (url === null || faults.length >= faultsMax) return;
    signal.throwIfAborted();
    tried++;
    const content = await contentAt(parts, url, options.bytesMax);
    const fault = typeof content === 'string' ? content : contentFault(content.length, options);
    if (typeof content === 'string' || fault !== null) {
      faults.push({ where: name, why: fault ?? '' });
      return;
    }
    // its name was checked first
    const mediaType = contentTypeOf(name) ?? '';
    const sha256 = await disk.put(content);
    noted.push({ place, name, sha256, bytes: content.length, mediaType });
    stored++;
    storedBytes += content.length;
    onStored(stored, storedBytes);
    if (noted.length >= notedTogether) await note();
  };
  const byHost = Map.groupBy(files, ({ url }) => hostOf(url));
  try {
    await inLanes([...byHost.values()], hostsAtOnce, (ofHost) => inLanes(ofHost, atOnceEach, store));
  } finally {
    await note();
  }
  return { faults, untried: files.length - tried };
}

const hostOf = (url: string | null): string =>
  url !== null && URL.canParse(url) ? new URL(url).host.toLowerCase() : '';

/**
 * The content at a URL, or the reason why it is missing, after the name of its file. Throws the reason of the signal.
 */
async function contentAt(
  { own, outgoing, signal }: Pick<FetchParts, 'own' | 'outgoing' | 'signal'>,
  url: string,
  bytesMax: number,
): Promise<Uint8Array | string> {
  const ours = await own.read(url, signal);
  if (ours !== null) return typeof ours === 'string' ? `has a URL that ${ours}` : ours;
  const got = await fetchFile(outgoing, url, { bytesMax, timeoutMs: fetchTimeoutMs, signal });
  // faults are shown in a list
  return typeof got === 'string' ? got.replace(/\.$/u, '') : got;
}
