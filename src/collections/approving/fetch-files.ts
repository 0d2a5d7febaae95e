import type pg from 'pg';
import type { CollectionFile } from '#collections/collection/files.store.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { contentTypeOf } from '#kernel/requests/file-types.ts';
import { fetchFile } from '#outgoing/fetch-file.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { type ApprovalFault, type ApprovalOptions, contentFault } from './approval-faults.ts';
import type { ContentsDisk, OwnContents } from './contents-disk.ts';
import { noteContents, type StoredContent } from './stored-files.store.ts';

/** How long to wait for one file, in ms. An order of a customer waits the same time for all of its files together. */
const fetchTimeoutMs = 60_000;
/**
 * Maximum number of hosts from which files are fetched at the same time. Each host sends at most four files at once,
 * because the guarded client allows four connections to a host.
 */
const hostsAtOnce = 8;
const atOnceEach = 4;
/**
 * Maximum number of contents that one statement marks as stored. After a crash, at most about this number is fetched
 * again.
 */
const notedTogether = 50;
/**
 * Number of faults after which no more files are fetched. If a host is missing, each of its files has the same fault.
 */
const faultsMax = 100;

export interface FetchParts {
  readonly pool: pg.Pool;
  readonly disk: ContentsDisk;
  readonly own: OwnContents;
  readonly outgoing: OutgoingHttp;
  readonly signal: AbortSignal;
  /** Called after each stored file, with the number of stored files and the sum of their bytes. */
  readonly onStored: (files: number, bytes: number) => void;
}

/** Result of a fetch. `untried` is the number of files that were not tried after too many faults. */
interface Fetched {
  readonly faults: readonly ApprovalFault[];
  readonly untried: number;
}

/**
 * Fetches the files of a pending collection from their URLs, and stores their bytes. Each file is fetched once. Stored
 * files are marked in the database, so that the next run fetches only the other files. At most 32 files are in memory.
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
    // the name always has a type, because the approval checked it first
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
 * Returns the content at a URL, or the reason why it is missing, worded to follow the file's name. If the signal is
 * aborted, throws its reason.
 */
async function contentAt(
  { own, outgoing, signal }: Pick<FetchParts, 'own' | 'outgoing' | 'signal'>,
  url: string,
  bytesMax: number,
): Promise<Uint8Array | string> {
  const ours = await own.read(url, signal);
  if (ours !== null) return typeof ours === 'string' ? `has a URL that ${ours}` : ours;
  const got = await fetchFile(outgoing, url, { bytesMax, timeoutMs: fetchTimeoutMs, signal });
  // each fault is shown as an item of a list, so it has no full stop
  return typeof got === 'string' ? got.replace(/\.$/u, '') : got;
}
