import type { FlowColumns } from '#indexer/facts/flow-columns.ts';
import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** The parts of a block that the ledger of sats needs. */
export interface SatBlock {
  readonly height: Height;
  readonly flow: FlowColumns;
  readonly columns: Pick<
    BlockColumns,
    'txFirstInput' | 'txInputValue' | 'txOutputValue' | 'inputFingerprintLow'
  >;
  /**
   * True if the source has not checked the block's spends. A missing output is then a fault of the block, otherwise an
   * internal fault.
   */
  readonly isUnchecked: boolean;
}
