import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHashHex, type BlockHashHex } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** A block file, described by its name: the height, and the hash in lower case and display order. */
export interface ListedBlock {
  readonly height: Height;
  readonly hash: BlockHashHex;
}

/** The contents of `blocks/`, known from the file names. */
export interface FolderListing {
  /** Block files by height. Null: not requested. */
  readonly byHeight: ReadonlyMap<Height, readonly BlockHashHex[]>;
  /** The file name of a block, in both `blocks/` and `spent/`. */
  fileName(height: Height, hash: BlockHashHex): string;
}

const blockName = /^(\d{1,7})-([0-9a-f]{64})\.bin$/iu;
const heightDigits = 7;

/** The name of a block file: height in seven digits, hash in display order. */
export function blockFileName(height: Height, hash: BlockHashHex): string {
  return `${String(height).padStart(heightDigits, '0')}-${hash}.bin`;
}

/** Lists `blocks/`. Other names are skipped. Throws `folder_invalid` without the folder. */
export async function listFolder(dir: string): Promise<FolderListing> {
  const byHeight = new Map<Height, BlockHashHex[]>();
  // only contains unusual spellings: heights without leading zeros, hashes in upper case
  const unusual = new Map<string, string>();
  try {
    for await (const entry of await opendir(join(dir, 'blocks'))) {
      const match = blockName.exec(entry.name);
      if (match === null) continue;
      // the height has seven digits at most
      const height = asHeight(Number(match[1]));
      const hash = asBlockHashHex(match[2] as string);
      const usual = blockFileName(height, hash);
      if (entry.name !== usual) unusual.set(usual, entry.name);
      const same = byHeight.get(height);
      if (same === undefined) byHeight.set(height, [hash]);
      else if (!same.includes(hash)) same.push(hash);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError('folder_invalid', `${join(dir, 'blocks')} cannot be listed: ${why}`, { dir }, error);
  }
  return {
    byHeight,
    fileName: (height, hash) => {
      const usual = blockFileName(height, hash);
      return unusual.get(usual) ?? usual;
    },
  };
}
