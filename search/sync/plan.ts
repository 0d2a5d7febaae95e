import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { type NextIds, noIds, type SearchMarker } from './marker.ts';
import type { OutboxRow } from './outbox-row.ts';

/** A block that is in the chain now: its row of the outbox, and the first ids that it does not use. */
export interface AppliedBlock {
  readonly row: OutboxRow;
  readonly next: NextIds;
}

/** What a marker is compared with, read in one moment of Postgres (`readPosition`). */
export interface ChainPosition {
  readonly chain: string;
  readonly undoEpoch: number;
  /** The newest row; null: the outbox is empty. */
  readonly last: OutboxRow | null;
  /** The row with the marker's sequence, where there is one. */
  readonly atMarker: OutboxRow | null;
  /** Sequences above the marker's of rows that take a block back, ascending. */
  readonly undoSequences: readonly number[];
  /** The last row above the marker that takes back what the marker reflects; null: all of that is still there. */
  readonly undone: OutboxRow | null;
  /** The highest block that the marker reflects and that is in the chain now; null: none is. */
  readonly left: AppliedBlock | null;
  /** Rows above the marker's of blocks that are in the chain now, ascending. The first ones, where there are more. */
  readonly applied: readonly AppliedBlock[];
  /** Whether `applied` has all of them. */
  readonly isAll: boolean;
}

/** How a marker becomes that of a later row of the outbox. */
export type SyncStep =
  /** The documents are of another chain, or of another history of this one: an index has to be made anew. */
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** Blocks that it reflects were taken back: the marker goes back before anything is overwritten. */
  | { readonly kind: 'rewind'; readonly marker: SearchMarker }
  /** Documents from the old `next` to that of the new marker are written before it. */
  | { readonly kind: 'advance'; readonly marker: SearchMarker }
  | { readonly kind: 'nothing' };

/**
 * What to do next, one step at a time. Blocks that came and went since the marker are passed over: of the rows above a marker,
 * those that take back what it reflects all come before those of blocks that are still there, as blocks are a stack.
 * A step takes at least one block, and no more where that would be above `idsMax` new ids of a kind.
 */
export function planStep(marker: SearchMarker, position: ChainPosition, idsMax: number): SyncStep {
  const reason = foreignBecause(marker, position);
  if (reason !== null) return { kind: 'rebuild', reason };
  const { undone, left } = position;
  if (undone !== null) {
    const next = left?.next ?? noIds;
    return {
      kind: 'rewind',
      marker: {
        ...marker,
        rewinds: marker.rewinds + 1,
        row: undone,
        tip: left && refOf(left.row),
        next,
        undoEpoch: epochAt(position, undone.sequence),
      },
    };
  }
  return advance(marker, position, idsMax);
}

function advance(marker: SearchMarker, position: ChainPosition, idsMax: number): SyncStep {
  const { applied, isAll, last } = position;
  if (last === null || last.sequence === (marker.row?.sequence ?? 0)) return { kind: 'nothing' };
  let count = 0;
  for (const block of applied) {
    if (count > 0 && newIds(marker.next, block.next) > idsMax) break;
    count++;
  }
  // behind the last block that is still there only blocks follow that came and went
  const isEnd = isAll && count === applied.length;
  const block = applied[count - 1];
  const row = isEnd ? last : (block as AppliedBlock).row;
  return {
    kind: 'advance',
    marker: {
      ...marker,
      row,
      tip: block === undefined ? marker.tip : refOf(block.row),
      next: block?.next ?? marker.next,
      undoEpoch: epochAt(position, row.sequence),
    },
  };
}

/** Why a marker cannot be one of this chain and its history; null: it is. */
function foreignBecause(
  { chain, row }: SearchMarker,
  { chain: own, atMarker }: ChainPosition,
): string | null {
  if (chain !== own) return 'the index is of another database';
  if (row === null) return null;
  if (atMarker === null) return `the database has no row ${row.sequence} of its outbox (yet)`;
  const isSame =
    row.height === atMarker.height &&
    row.cancels === atMarker.cancels &&
    Buffer.compare(row.hash, atMarker.hash) === 0;
  return isSame ? null : `row ${row.sequence} of the outbox is another one than the index was made from`;
}

/** The undo epoch when a row was the last one. */
function epochAt({ undoEpoch, undoSequences }: ChainPosition, sequence: number): number {
  return undoEpoch - undoSequences.filter((undo) => undo > sequence).length;
}

/** How many documents of the kind that has most come between two sets of ids. */
function newIds(from: NextIds, to: NextIds): number {
  return Math.max(to.key - from.key, to.contentId - from.contentId, to.metadataId - from.metadataId);
}

function refOf({ height, hash }: OutboxRow): BlockRef {
  return { height, hash };
}
