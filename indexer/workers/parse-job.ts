import type { EncodedFacts } from '#indexer/facts/block-facts.ts';
import type { FactSet } from '#indexer/facts/fact.ts';
import type { CompiledSha256 } from '#indexer/parse/sha256/sha256-lanes.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Laps } from '#kernel/stages/span.ts';

/** The input of a worker: one block. The memory of `block`, `spent` and `into` is shared, but no one else writes it. */
export interface ParseJob {
  readonly block: Uint8Array<SharedArrayBuffer>;
  /** The outputs that the block spends (`SourceBlock.spentOutputs`). Null: unknown. */
  readonly spent: Uint8Array<SharedArrayBuffer> | null;
  readonly hash: BlockHash;
  readonly height: Height;
  readonly network: NetworkName;
  /** Check the block against its hash, because its source is not trusted. */
  readonly verify: boolean;
  readonly fingerprintKey: Uint8Array;
  /** Maximum length in bytes of a decoded text that is made searchable. */
  readonly textMaxBytes: number;
  /** A buffer for the columns, used if it is large enough. */
  readonly into: SharedArrayBuffer;
  /** The facts to read besides the columns. Reading `outputs` takes half as long as the parse. */
  readonly facts: FactSet;
  /** Return the times of the stages as well. */
  readonly isTimed: boolean;
}

/** The result. */
export type ParseJobResult = ParseJobOutcome & {
  /** The columns, if `into` is too small for them. Null: they are in `into`, or the block is refused. */
  readonly columns: ArrayBufferLike | null;
  /** The requested facts; empty for a refused block. Their buffers are transferred. */
  readonly facts: EncodedFacts;
  /** Times of the stages, if the job asked for them. */
  readonly times?: JobTimes;
};

export interface JobTimes {
  readonly thread: number;
  readonly spans: Laps['spans'];
}

export type ParseJobOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt' | 'spent_outputs_mismatch';
      readonly message: string;
      readonly at: number;
    };

/** The start data of a pool thread. */
export interface ParseThread {
  /** True if other work of this process has precedence for the processor. */
  readonly isBackground: boolean;
  readonly sha256: CompiledSha256;
}
