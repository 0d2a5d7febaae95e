import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { OutboxRow } from './outbox-row.ts';

/** The first ids that no block up to some height uses: ids are dense, so they say exactly what belongs to that height. */
export interface NextIds {
  /** Of chain.inscriptions. */
  readonly key: number;
  /** Of chain.contents. */
  readonly contentId: number;
  /** Of chain.metadata_texts. */
  readonly metadataId: number;
}

export const noIds: NextIds = { key: 0, contentId: 0, metadataId: 0 };

/**
 * How far a search index is: the only thing that is believed about it. It lies in the index itself, so that an index that
 * was wiped, or restored from an old snapshot, says truly where it stands.
 *
 * What holds of an index and its marker M:
 * - Every document with an id below `M.next` is there as the chain up to `M.tip` has it, written and (where `state` is `live`) refreshed
 *   before M was. Ids are used again after a reorganisation, so a document is overwritten rather than deleted.
 * - Documents with ids from `M.next` on may be there: of a batch that is being written or was cut off, or of blocks that were
 *   taken back. They mean nothing, and readers leave them out by their ids. They are written anew before M reaches them.
 * - While `rewinds` stays the same `next` only grows, so no document below it changes.
 *
 * So a reader takes M (a GET by id, which is of this moment), searches with `id < M.next`, in as many requests as it likes, takes the
 * marker again, and begins anew where `rewinds` or the index behind the alias is another one. For a tip of Postgres that is behind M
 * with the same `undoEpoch` it may search below the `next` of that tip instead: an answer for exactly that block.
 */
export interface SearchMarker {
  /** Of this format. */
  readonly version: 1;
  /** Which database the documents are of (`chainIdentity`): outbox sequences of another one mean nothing. */
  readonly chain: string;
  /** `loading`: a first load goes on, nothing was refreshed, and nobody reads it. */
  readonly state: 'loading' | 'live';
  /** Grows whenever `next` becomes smaller. */
  readonly rewinds: number;
  /** The last row of the outbox that is reflected; null: none is. */
  readonly row: OutboxRow | null;
  /** The block up to which documents are there; null: none are. */
  readonly tip: BlockRef | null;
  readonly next: NextIds;
  /** chain.state.undo_epoch as it was when `row` was the last one. */
  readonly undoEpoch: number;
}

/** The id of the marker's document; those of other documents are made of digits. */
export const markerId = 'marker';

/** The marker of an index in which nothing is. */
export function emptyMarker(chain: string): SearchMarker {
  return {
    version: 1,
    chain,
    state: 'loading',
    rewinds: 0,
    row: null,
    tip: null,
    next: noIds,
    undoEpoch: 0,
  };
}

/** A marker as it is stored, in the field `marker` of its document: JSON in a text, so that the mapping knows nothing of it. */
export function encodeMarker(marker: SearchMarker): string {
  const ref = (block: BlockRef | null): unknown => block && [block.height, hex(block.hash)];
  const { row, tip, ...rest } = marker;
  return JSON.stringify({
    ...rest,
    row: row && [row.sequence, row.height, hex(row.hash), row.cancels],
    tip: ref(tip),
  });
}

/** Null where it is none of this version: the index is of another program, or of a version before or after this one. */
export function decodeMarker(text: string): SearchMarker | null {
  const value = JSON.parse(text) as Stored;
  if (value.version !== 1) return null;
  const { row, tip, ...rest } = value;
  return {
    ...rest,
    row: row && { sequence: row[0], height: row[1], hash: bytes(row[2]), cancels: row[3] },
    tip: tip && { height: tip[0], hash: bytes(tip[1]) },
  };
}

interface Stored extends Omit<SearchMarker, 'row' | 'tip'> {
  readonly row: readonly [number, number, string, number | null] | null;
  readonly tip: readonly [number, string] | null;
}

const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
