/** A row of chain.outbox as far as searches need it (migrations/chain/0003_events.sql). */
export interface OutboxRow {
  /** Dense from 1 on, in the order of commits. */
  readonly sequence: number;
  readonly height: number;
  /** 32 bytes, internal order. */
  readonly hash: Uint8Array;
  /** The sequence of the row that this one takes back; null: the block was applied. */
  readonly cancels: number | null;
}
