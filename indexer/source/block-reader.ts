import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';

/** Reads the bytes of single blocks of a source, in addition to the blocks that are being indexed. */
export function blockReader(
  source: Pick<BlockSource, 'read'>,
  signal?: AbortSignal,
): (ref: BlockRef) => Promise<Uint8Array> {
  return async (ref) => (await source.read(ref, signal)).bytes;
}
