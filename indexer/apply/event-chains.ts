import type { KindEvents } from '#indexer/events/block-events.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** The blocks of one kind that belong to its chain of hashes, at least one. */
export interface HashedBlocks {
  readonly number: number;
  readonly version: number;
  readonly firstHeight: Height;
  readonly blocks: { readonly height: Height; readonly sha256: Buffer }[];
}

/** Chains of hashes that the blocks continue, each with its blocks in chain order. */
export function hashedByKind(
  blocks: readonly { readonly ref: BlockRef; readonly kinds: readonly Omit<KindEvents, 'text'>[] }[],
): HashedBlocks[] {
  const chains = new Map<number, HashedBlocks>();
  for (const { ref, kinds } of blocks) {
    for (const { kind, firstHeight, sha256 } of kinds) {
      if (sha256 === null) continue;
      const { number, version } = kind;
      const chain = chains.get(number) ?? { number, version, firstHeight, blocks: [] };
      chain.blocks.push({ height: ref.height, sha256 });
      chains.set(number, chain);
    }
  }
  return [...chains.values()];
}

/** A row of `chain.event_hashes`; `number` is the number of the kind. */
export interface HashRow {
  readonly number: number;
  readonly version: number;
  readonly height: Height;
  readonly sha256: Buffer;
  readonly cumulative: Buffer;
}

/**
 * Hashes of consecutive blocks. They continue from the hash of the block before, or begin at the first block of a chain
 * of hashes. A block whose predecessor lacks a hash gets no hash (complete-event-hashes.ts adds it later).
 *
 * @param before the cumulative hash before the first of these blocks; null: there is no earlier hash
 */
export function chainHashes(
  { number, version, firstHeight, blocks }: HashedBlocks,
  before: Uint8Array | null,
): HashRow[] {
  const rows: HashRow[] = [];
  let previous = before;
  for (const [at, { height, sha256 }] of blocks.entries()) {
    if (height === firstHeight) previous = firstCumulative;
    else if (at > 0 && blocks[at - 1]?.height !== height - 1) previous = null;
    if (previous === null) continue;
    const cumulative = nextCumulative(previous, sha256);
    rows.push({ number, version, height, sha256, cumulative });
    previous = cumulative;
  }
  return rows;
}
