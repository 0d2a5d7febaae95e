import { open } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { invalid } from './import-faults.ts';
import { itemsBytesMax, tooLong } from './read-items.ts';
import { itemsFile } from './split-items.ts';

/**
 * Maximum number of bytes of `meta.json`. The file has a name, links, and a description of up to several pages. The
 * largest known file has 3 kB.
 */
const metaBytesMax = 256 * 1024;
/**
 * Maximum number of bytes to fetch. The complete response is in memory while it is read. A list of 100,000 items
 * without traits has 12 MB.
 */
const fetchedBytesMax = 64 * 1024 * 1024;
/**
 * How long to wait for a file, in ms. A large list may come from a slow server. Files of orders have the same limit.
 */
const fetchTimeoutMs = 60_000;
const redirectsMax = 3;

/** The two files of a collection. */
export interface CollectionSource {
  /** The name of the folder with both files. It is the slug if `meta.json` has no slug. */
  readonly folder: string;
  meta(): Promise<string>;
  items(): AsyncIterable<Uint8Array>;
}

/** A folder with both files. Throws `collection_unreadable`. */
export function folderSource(path: string): CollectionSource {
  return {
    folder: basename(resolve(path)),
    meta: async () => decoded(await readWhole(join(path, 'meta.json'))),
    items: () => readPieces(join(path, itemsFile)),
  };
}

/** The two files below a URL. They are fetched with the same protection as files from strangers (ADR 36). */
export function urlSource(url: string, http: OutgoingHttp, signal: AbortSignal): CollectionSource {
  const base = url.endsWith('/') ? url : `${url}/`;
  const get = async (file: string, bytesMax: number): Promise<Uint8Array> => {
    const bounds = { bytesMax, timeoutMs: fetchTimeoutMs, redirectsMax, signal };
    const { status, bytes } = await http.get(`${base}${file}`, bounds);
    if (status !== 200) throw unreadable(file, `the server answers with status ${status}`);
    return bytes;
  };
  return {
    folder: decodedName(/\/(?<name>[^/]+)\/$/u.exec(base)?.groups?.['name'] ?? ''),
    meta: async () => decoded(await get('meta.json', metaBytesMax)),
    items: async function* items() {
      yield await get(itemsFile, fetchedBytesMax);
    },
  };
}

/** A decoded part of a URL path. Returns the part unchanged if it cannot be decoded. */
function decodedName(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const unreadable = (file: string, why: string, cause?: unknown): AppError =>
  new AppError('collection_unreadable', `The file ${file} cannot be read, because ${why}.`, { file }, cause);

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('meta.json', 'it is not UTF-8');
  }
}

async function readWhole(path: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readFilePieces(path, metaBytesMax, () =>
    invalid('meta.json', `it has more than ${metaBytesMax} bytes`),
  ))
    pieces.push(piece);
  return Buffer.concat(pieces);
}

const readPieces = (path: string): AsyncGenerator<Uint8Array> => readFilePieces(path, itemsBytesMax, tooLong);

/** Pieces of a file. The bytes are counted while they are read, because the file may grow meanwhile. */
async function* readFilePieces(
  path: string,
  bytesMax: number,
  refusal: () => AppError,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    await using file = await open(path);
    const found = await file.stat();
    if (!found.isFile()) throw unreadable(path, 'it is not a file');
    if (found.size > bytesMax) throw refusal();
    for await (const piece of file.createReadStream({ autoClose: false })) {
      length += (piece as Uint8Array).length;
      if (length > bytesMax) throw refusal();
      yield piece as Uint8Array;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw unreadable(path, String(code ?? error), error);
  }
}
