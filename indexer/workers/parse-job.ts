import type { EncodedFacts } from '#indexer/facts/block-facts.ts';
import type { FactSet } from '#indexer/facts/fact.ts';
import type { CompiledSha256 } from '#indexer/parse/sha256/sha256-lanes.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** What goes to a worker: one block. The buffers of `block`, `spent` and `into` are transferred. */
export interface ParseJob {
  readonly block: Uint8Array<ArrayBuffer>;
  /** The outputs that it spends (`SourceBlock.spentOutputs`); null: not known. */
  readonly spent: Uint8Array<ArrayBuffer> | null;
  readonly hash: Uint8Array;
  readonly height: number;
  readonly network: NetworkName;
  /** Check that the block is what its name says: its source is not trusted. */
  readonly verify: boolean;
  readonly fingerprintKey: Uint8Array;
  /** Longest text, decoded, that is made searchable. */
  readonly textMaxBytes: number;
  /** Where the columns go if there is room for them. */
  readonly into: ArrayBuffer;
  /** What is read beside the columns. `outputs` costs half as much again as the parse. */
  readonly facts: FactSet;
}

/** What comes back; the buffers are transferred, also where the block is refused. */
export type ParseJobResult = ParseJobOutcome & {
  /** The columns: `into`, or a buffer of just their size. Where the block is refused `into`, of no meaning. */
  readonly columns: ArrayBuffer;
  /** What was read of the facts; empty where the block is refused. */
  readonly facts: EncodedFacts;
  readonly block: Uint8Array<ArrayBuffer>;
  readonly spent: Uint8Array<ArrayBuffer> | null;
};

export type ParseJobOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt' | 'spent_outputs_mismatch';
      readonly message: string;
      readonly at: number;
    };

/** What a thread of the pool is told at its start. */
export interface ParseThread {
  /** Somebody else in this process is to have the processor first. */
  readonly isBackground: boolean;
  readonly sha256: CompiledSha256;
}
