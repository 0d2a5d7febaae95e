import type { Marker } from '#search/elastic/server/marker.ts';

/** A block that is in the chain now: its row of the outbox, and the first key that it and those before it do not use. */
export interface AppliedBlock {
  readonly sequence: number;
  readonly tip: NonNullable<Marker['tip']>;
  readonly nextKey: number;
}

/** What a marker is compared with, read in one moment of Postgres (`readPosition`). */
export interface ChainPosition {
  readonly database: string;
  readonly undoEpoch: number;
  /** Of the newest row of the outbox; 0: it is empty. */
  readonly lastSequence: number;
  /** The last block when the row with the marker's sequence was written; null: there was none. */
  readonly tipAtMarker: Marker['tip'];
  /** Sequences above the marker's of rows that take a block back, ascending. */
  readonly undoSequences: readonly number[];
  /** The last of them that takes back what the marker reflects; null: all of that is still there. */
  readonly undoneAt: number | null;
  /** The highest block that the marker reflects and that is in the chain now; null: none is. */
  readonly left: AppliedBlock | null;
  /** Blocks above the marker that are in the chain now, ascending. The first ones, where there are more. */
  readonly applied: readonly AppliedBlock[];
  /** Whether `applied` has all of them. */
  readonly isAll: boolean;
}

/** How an index comes to a later row of the outbox. */
export type SyncStep =
  /** The documents are of another chain, or of another history of this one: an index has to be made anew. */
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** Blocks that it reflects were taken back: what documents hold of keys from the new `nextKey` on goes. */
  | { readonly kind: 'rewind'; readonly marker: Marker }
  /** The inscriptions from the old `nextKey` to that of the new marker are written. */
  | { readonly kind: 'advance'; readonly marker: Marker }
  | { readonly kind: 'nothing' };

/**
 * A document holds copies of several blocks of a step, so going back into a step begins at its start: behind blocks that
 * may well be taken back a step has one block. Deeper reorganisations cost more, and are as exact.
 */
const unsettledBlocks = 6;

/**
 * What to do next, one step at a time. Blocks that came and went since the marker are passed over: of the rows above a marker,
 * those that take back what it reflects all come before those of blocks that are still there, as blocks are a stack.
 * A step takes at least one block, and no more where that would be above `keysMax` inscriptions.
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
  // behind the last block that is still there only blocks follow that came and went
  const isEnd = isAll && count === applied.length;
  const sequence = isEnd || block === undefined ? lastSequence : block.sequence;
  const { tip, nextKey } = block ?? marker;
  return {
    kind: 'advance',
    marker: { ...marker, epoch: epochAt(position, sequence), sequence, tip, nextKey },
  };
}

/** Why a marker cannot be one of this chain and its history; null: it is. */
function foreignBecause({ database, sequence, tip }: Marker, position: ChainPosition): string | null {
  if (database !== position.database) return 'the index is of another database';
  if (sequence > position.lastSequence) return `the outbox ends before row ${sequence}`;
  const { tipAtMarker } = position;
  if (tip?.height === tipAtMarker?.height && tip?.hash === tipAtMarker?.hash) return null;
  return `after row ${sequence} of the outbox the chain was another one than the index was made from`;
}

/** The undo epoch when a row was the last one. */
function epochAt({ undoEpoch, undoSequences }: ChainPosition, sequence: number): number {
  return undoEpoch - undoSequences.filter((undo) => undo > sequence).length;
}
