import { type LedgerCounters, startsAnchored } from '#indexer/ledger/ledger-block.ts';
import type { BlockRef, Island } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { genesisHeight, type Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** The state of a chain at a block: all that the next block needs from the blocks before it. */
export interface ChainPosition {
  readonly tip: BlockRef | null;
  /** First height of the island that the tip belongs to. */
  readonly islandHeight: Height;
  /** True if the next block of the island is anchored. */
  readonly anchored: boolean;
  readonly counters: LedgerCounters;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
}

export const emptyChain: ChainPosition = {
  tip: null,
  islandHeight: genesisHeight,
  anchored: false,
  counters: { nextKey: 0, sequence: null, blessed: null, cursed: null, unbound: null, lostSats: null },
  nextContentId: 0,
  nextMetadataId: 0,
};

/**
 * The position just before a block: the position of the tip if the block follows it, otherwise the start of an island.
 * Throws `block_not_linked` if the block has the next height but another parent.
 */
export function enterBlock(
  position: ChainPosition,
  ref: BlockRef,
  header: Uint8Array,
  islands: readonly Island[],
  network: NetworkParameters,
): ChainPosition {
  const { tip } = position;
  if (tip !== null && tip.height === ref.height - 1) {
    const parent = asBlockHash(header.subarray(4, 36));
    if (Buffer.compare(parent, tip.hash) === 0) return position;
    const hash = displayHash(ref.hash);
    throw new AppError(
      'block_not_linked',
      `The parent of block ${ref.height} ${hash} is ${displayHash(parent)} and not ${displayHash(tip.hash)}.`,
      { height: ref.height, hash, parent: displayHash(parent), expected: displayHash(tip.hash) },
    );
  }
  const { nextKey } = position.counters;
  const anchored = startsAnchored(ref.height, network);
  const start = islands.find(({ firstHeight }) => firstHeight === ref.height)?.start ?? {};
  const unknown = anchored ? 0 : null;
  return {
    ...position,
    islandHeight: ref.height,
    anchored,
    counters: {
      nextKey,
      sequence: start.sequence ?? unknown,
      blessed: start.blessed ?? unknown,
      cursed: start.cursed ?? unknown,
      unbound: start.unbound ?? unknown,
      lostSats: start.lostSats ?? unknown,
    },
  };
}
