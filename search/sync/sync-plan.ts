import type { Marker } from '#search/elastic/server/marker.ts';

/**
 * A block of the current chain: its outbox row, and the first key above the keys of this block and all blocks before
 * it.
 */
export interface AppliedBlock {
  readonly sequence: number;
  readonly tip: NonNullable<Marker['tip']>;
  readonly nextKey: number;
}

/** The facts that a marker is compared with, all read in one moment of Postgres (`readPosition`). */
export interface ChainPosition {
  readonly database: string;
  readonly undoEpoch: number;
  /** The newest outbox sequence. 0: the outbox is empty. */
  readonly lastSequence: number;
  /** The last block when the row with the marker's sequence was written. Null: no block. */
  readonly tipAtMarker: Marker['tip'];
  /** Sequences of rows that take a block back, above the marker's sequence, ascending. */
  readonly undoSequences: readonly number[];
  /**
   * Sequence of the last undo row that takes back a block of the marker. Null: all blocks of the marker are still in
   * the chain.
   */
  readonly undoneAt: number | null;
  /** The highest block of the marker that is still in the chain. Null: no block. */
  readonly left: AppliedBlock | null;
  /** The blocks of the chain above the marker, ascending. If there are many, only the first. */
  readonly applied: readonly AppliedBlock[];
  /** Whether `applied` has all blocks above the marker. */
  readonly isAll: boolean;
}

/** How an index reaches a later row of the outbox. */
export type SyncStep =
  /** The documents belong to another chain, or to another history of this chain. The index must be rebuilt. */
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** Blocks that the index covers were taken back. Documents lose their keys from the new `nextKey` on. */
  | { readonly kind: 'rewind'; readonly marker: Marker }
  /** The inscriptions from the old `nextKey` to the new marker's `nextKey` are written. */
  | { readonly kind: 'advance'; readonly marker: Marker }
  | { readonly kind: 'nothing' };

/**
 * Number of blocks below the tip in which a step has only one block, because these blocks may be taken back. A document
 * has copies from several blocks of a step, so going back into a step begins at its start. Deeper reorganisations cost
 * more, and are just as exact.
 */
const unsettledBlocks = 6;

/**
 * The next step. Blocks that were applied and undone since the marker are skipped. Blocks are taken back in reverse
 * order. So among the rows above the marker, undos of covered blocks come before blocks that are still in the chain. A
 * step takes at least one block, and stops before it would exceed `keysMax` inscriptions.
 */
export function planStep(marker: Marker, position: ChainPosition, keysMax: number): SyncStep {
  const reason = foreignBecause(marker, position);
  if (reason !== null) return { kind: 'rebuild', reason };
  const { undoneAt, left } = position;
  if (undoneAt === null) return advance(marker, position, keysMax);
  const reached = {
    ...marker,
    rewinds: marker.rewinds + 1,
    epoch: epochAt(position, undoneAt),
    sequence: undoneAt,
    tip: left?.tip ?? null,
    nextKey: left?.nextKey ?? 0,
  };
  return { kind: 'rewind', marker: reached };
}

function advance(marker: Marker, position: ChainPosition, keysMax: number): SyncStep {
  const { applied, isAll, lastSequence } = position;
  if (lastSequence === marker.sequence) return { kind: 'nothing' };
  const settled = isAll ? applied.length - unsettledBlocks : applied.length;
  let count = 0;
  for (const block of applied) {
    if (count > 0 && (count >= settled || block.nextKey - marker.nextKey > keysMax)) break;
    count++;
  }
  const block = applied[count - 1];
  // after the last block that is still in the chain, all rows belong to blocks that were applied and undone
  const isEnd = isAll && count === applied.length;
  const sequence = isEnd || block === undefined ? lastSequence : block.sequence;
  const { tip, nextKey } = block ?? marker;
  return {
    kind: 'advance',
    marker: { ...marker, epoch: epochAt(position, sequence), sequence, tip, nextKey },
  };
}

/** Why a marker cannot belong to this chain and its history. Null: it can belong to it. */
function foreignBecause({ database, sequence, tip }: Marker, position: ChainPosition): string | null {
  if (database !== position.database) return 'the index belongs to another database';
  if (sequence > position.lastSequence) return `the outbox ends before row ${sequence}`;
  const { tipAtMarker } = position;
  if (tip?.height === tipAtMarker?.height && tip?.hash === tipAtMarker?.hash) return null;
  return `after row ${sequence} of the outbox, the index was made from another chain`;
}

/** The undo epoch at the time of a row. */
function epochAt({ undoEpoch, undoSequences }: ChainPosition, sequence: number): number {
  return undoEpoch - undoSequences.filter((undo) => undo > sequence).length;
}
