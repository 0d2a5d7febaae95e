import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, asBlockHashHex, type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { ChainFile } from './chain-file.ts';
import type { FolderListing, ListedBlock } from './folder-listing.ts';

const headerLength = 80;
const parentAt = 4;

/** The best chain of a folder: `headers` if given. Otherwise the files, if no two have the same height. */
export function bestChain(dir: string, file: ChainFile, listing: FolderListing): ListedBlock[] {
  const chain =
    file.headers === undefined
      ? chainOfFiles(dir, listing)
      : file.headers.map(({ height, hash }) => ({ height: asHeight(height), hash: asBlockHashHex(hash) }));
  checkOrder(dir, chain, file.gaps === true);
  return chain;
}

/**
 * The chain that ends in the block `tip`. It is followed from the file of `tip` down along the parents that the headers
 * name, to the best chain or to the lowest block in the folder. With gaps, the best chain's blocks below an island are
 * kept.
 */
export async function chainTo(
  dir: string,
  file: ChainFile,
  listing: FolderListing,
  tip: BlockHashHex,
): Promise<ListedBlock[]> {
  const best = file.headers !== undefined || !ambiguous(listing) ? bestChain(dir, file, listing) : [];
  const placeOnBest = new Map(best.map((block, index) => [block.hash, index]));
  const above: ListedBlock[] = [];
  let joined = placeOnBest.get(tip);
  let at = joined === undefined ? findBlock(dir, listing, tip) : null;
  while (joined === undefined && at !== null) {
    above.push(at);
    const parent = await parentOf(dir, listing, at);
    joined = placeOnBest.get(parent);
    at = fileBelow(listing, at, parent);
  }
  above.reverse();
  const below =
    joined === undefined ? islandsBelow(best, above[0], file.gaps === true) : best.slice(0, joined + 1);
  const chain = [...below, ...above];
  checkOrder(dir, chain, file.gaps === true);
  return chain;
}

/** In a folder with gaps: blocks of the best chain below the first block of another branch. */
function islandsBelow(
  best: readonly ListedBlock[],
  lowest: ListedBlock | undefined,
  gaps: boolean,
): readonly ListedBlock[] {
  return gaps && lowest !== undefined ? best.filter(({ height }) => height < lowest.height - 1) : [];
}

/** The file of a block's parent, if it exists. */
function fileBelow(
  listing: FolderListing,
  { height }: ListedBlock,
  parent: BlockHashHex,
): ListedBlock | null {
  if (height === 0) return null;
  const below = asHeight(height - 1);
  return listing.byHeight.get(below)?.includes(parent) === true ? { height: below, hash: parent } : null;
}

function ambiguous(listing: FolderListing): boolean {
  for (const hashes of listing.byHeight.values()) if (hashes.length > 1) return true;
  return false;
}

function chainOfFiles(dir: string, listing: FolderListing): ListedBlock[] {
  const heights = [...listing.byHeight.keys()].sort((a, b) => a - b);
  return heights.map((height) => {
    const [hash, other] = listing.byHeight.get(height) as [BlockHashHex, BlockHashHex?];
    if (other !== undefined) {
      throw new AppError(
        'folder_invalid',
        `${dir} has two blocks of height ${height}, but chain.json has no headers that say which one is in the chain.`,
        { dir, height, hashes: [hash, other] },
      );
    }
    return { height, hash };
  });
}

function checkOrder(dir: string, chain: readonly ListedBlock[], gaps: boolean): void {
  let expected = 0;
  for (const { height } of chain) {
    if (gaps ? height < expected : height !== expected) {
      const what = gaps ? `height ${height} comes after ${expected - 1}` : `height ${expected} is missing`;
      const hint = gaps ? 'headers ascend' : 'a folder with missing blocks needs "gaps": true';
      throw new AppError('folder_invalid', `The chain of ${dir} is not in order, because ${what}; ${hint}.`, {
        dir,
        height,
      });
    }
    expected = height + 1;
  }
}

function findBlock(dir: string, listing: FolderListing, hash: BlockHashHex): ListedBlock {
  for (const [height, hashes] of listing.byHeight) if (hashes.includes(hash)) return { height, hash };
  throw new AppError('folder_invalid', `There is no block ${hash} in ${dir}.`, { dir, hash });
}

/** The parent that a block's header names, in display order. */
async function parentOf(dir: string, listing: FolderListing, block: ListedBlock): Promise<BlockHashHex> {
  const path = join(dir, 'blocks', listing.fileName(block.height, block.hash));
  const header = new Uint8Array(headerLength);
  try {
    const file = await open(path);
    try {
      const { bytesRead } = await file.read(header, 0, headerLength, 0);
      if (bytesRead < headerLength) {
        throw new AppError('block_truncated', `${path} is shorter than a header.`, { ...block });
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('block_unavailable', `${path} cannot be read.`, { ...block }, error);
  }
  return displayHash(asBlockHash(header.subarray(parentAt, parentAt + 32)));
}
