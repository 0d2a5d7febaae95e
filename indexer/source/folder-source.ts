import { strict as assert } from 'node:assert';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { blockLengthMax } from '#kernel/bitcoin/consensus.ts';
import type {
  BlockRef,
  BlockSource,
  BufferPool,
  Island,
  SourceBlock,
} from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import {
  type BlockHash,
  type BlockHashHex,
  displayHash,
  parseBlockHash,
  parseBlockHashHex,
} from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { type ChainFile, readChainFile } from './chain-file.ts';
import { bestChain, chainTo } from './folder-chain.ts';
import { type FolderListing, listFolder } from './folder-listing.ts';

/**
 * Maximum bytes of a block's spent outputs. A block has at most 24,390 inputs (41 bytes each, of a million without
 * witnesses), and outputs with a script of more than 10,000 bytes cannot be spent. The maximum is therefore 24,390
 * outputs of the longest kind, with their values and counts.
 */
const spentLengthMax = 24_390 * (8 + 3 + 10_000) + 1_000_000;

export interface FolderSourceOptions {
  /** Hash of the tip of the wanted chain, in display order. Absent: the best chain that chain.json names. */
  readonly tip?: string;
}

/**
 * A chain in a folder with `chain.json`, `blocks/` and, if spent outputs are known, `spent/` (docs/architecture.md,
 * "Block folders"). The folder is listed once, here; files are read on demand. Its content is not trusted: blocks are
 * checked before they are applied. Throws `folder_invalid`. If a tip is given, also throws `block_truncated` or
 * `block_unavailable` for a header below the tip.
 */
export async function openFolderSource(dir: string, options: FolderSourceOptions = {}): Promise<BlockSource> {
  const file = await readChainFile(dir);
  const listing = await listFolder(dir);
  const chain =
    options.tip === undefined
      ? bestChain(dir, file, listing)
      : await chainTo(dir, file, listing, checkedTip(options.tip));
  // refuse an empty folder: as a chain it would mean that every block must be taken back
  if (chain.length === 0) throw new AppError('folder_invalid', `There are no blocks in ${dir}.`, { dir });
  const refs = chain.map(({ height, hash }): BlockRef => ({ height, hash: bytesOfHash(hash) }));
  const islands = islandsOf(dir, file, refs);
  return {
    // this name is public, so it has only the folder's own name, not its path
    name: `folder ${nameOf(dir)}`,
    network: file.network,
    trusted: false,
    islands: () => Promise.resolve(islands),
    refs: (from = genesisHeight) => Promise.resolve(refs.filter(({ height }) => height >= from)),
    sizeOf: async (height) => {
      const ref = refs.find((candidate) => candidate.height === height);
      if (ref === undefined) return null;
      const path = join(dir, 'blocks', listing.fileName(height, displayHash(ref.hash)));
      return stat(path).then(
        ({ size }) => size,
        () => null,
      );
    },
    read: (ref, signal, buffers) => readBlock(dir, listing, ref, signal, buffers),
    close: () => Promise.resolve(),
  };
}

const nameOf = (dir: string): string => basename(resolve(dir));

function checkedTip(tip: string): BlockHashHex {
  const hash = parseBlockHashHex(tip);
  if (hash !== null) return hash;
  throw new AppError('config_invalid', `A tip is the hash of a block (64 hex digits), not ${tip}.`, { tip });
}

function bytesOfHash(hash: BlockHashHex): BlockHash {
  const bytes = parseBlockHash(hash);
  assert(bytes !== null, `${hash} is not a hash`);
  return bytes;
}

/** Runs of consecutive heights, with the totals that chain.json proves for them. */
function islandsOf(dir: string, file: ChainFile, refs: readonly BlockRef[]): Island[] {
  const starts = new Map((file.islands ?? []).map((island) => [island.height, island.start ?? {}]));
  const islands: Island[] = [];
  for (const { height } of refs) {
    const last = islands.at(-1);
    if (last?.lastHeight === height - 1) {
      islands[islands.length - 1] = { ...last, lastHeight: height };
    } else {
      islands.push({ firstHeight: height, lastHeight: height, start: starts.get(height) ?? {} });
      starts.delete(height);
    }
  }
  const stray = [...starts.keys()].find((height) => refs.some((ref) => ref.height === height));
  if (stray !== undefined) {
    throw new AppError(
      'folder_invalid',
      `chain.json of ${dir} has start counters for height ${stray}, but this block follows another block of the folder.`,
      { dir, height: stray },
    );
  }
  return islands;
}

async function readBlock(
  dir: string,
  listing: FolderListing,
  ref: BlockRef,
  signal: AbortSignal | undefined,
  buffers: BufferPool | undefined,
): Promise<SourceBlock> {
  signal?.throwIfAborted();
  const hash = displayHash(ref.hash);
  const name = listing.fileName(ref.height, hash);
  const what = { height: ref.height, hash };
  const bytes = await readWhole(join(dir, 'blocks', name), blockLengthMax, what, buffers);
  if (bytes === null) {
    throw new AppError(
      'block_unavailable',
      `Block ${ref.height} ${hash} is not in the folder ${nameOf(dir)}.`,
      {
        ...what,
        dir,
      },
    );
  }
  signal?.throwIfAborted();
  const spentOutputs = await readWhole(join(dir, 'spent', name), spentLengthMax, what, buffers);
  return { ref, bytes, spentOutputs, spentHeights: null };
}

/** Reads a file into one buffer. Null: the file does not exist. */
async function readWhole(
  path: string,
  lengthMax: number,
  what: Record<string, unknown>,
  buffers: BufferPool | undefined,
): Promise<Uint8Array | null> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > lengthMax) {
        throw failure('block_oversized', `has ${size} bytes, more than any valid file (${lengthMax})`);
      }
      const bytes = new Uint8Array(buffers?.take(size) ?? new ArrayBuffer(size), 0, size);
      let at = 0;
      while (at < size) {
        const { bytesRead } = await file.read(bytes, at, size - at, at);
        if (bytesRead === 0) throw failure('block_truncated', `ends after ${at} of ${size} bytes`);
        at += bytesRead;
      }
      return bytes;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw failure('block_unavailable', 'cannot be read', error);
  }

  function failure(code: ErrorCode, message: string, cause?: unknown): AppError {
    // the full path is only written to the log
    const shown = join(nameOf(dirname(dirname(path))), basename(dirname(path)), basename(path));
    return new AppError(code, `${shown} ${message}.`, { ...what, path }, cause);
  }
}
