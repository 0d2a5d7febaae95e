import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';
import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { valueLength } from '#indexer/transaction/block-layout.ts';
import { compactSizeLength, knownCompactSize } from '#indexer/transaction/compact-size.ts';

/** Where the scripts of spent outputs are: the fact `spent-scripts`. One element an input, the coinbase's too. */
const columnTypes = {
  /**
   * Range of the script in the spent outputs that came with the block. Of length 0 for the coinbase, and where a folder
   * says that the former owner is not known.
   */
  scriptStart: Uint32Array,
  scriptLength: Uint32Array,
} as const;

type ScriptColumns = ColumnsOf<typeof columnTypes>;

/** Script and value of what each input spends. */
export interface SpentScripts extends ScriptColumns {
  /** What the ranges are in: the spent outputs as the source gave them. */
  readonly bytes: Uint8Array;
  /** Sats; the block's column `inputValue`. */
  readonly value: Float64Array;
}

const version = 1;

/**
 * Reads where the scripts are, in spent outputs that fit the block: the parser has read them before
 * (indexer/parse/spent-outputs.ts). Cost: a step over each spent output, and 8 bytes an input.
 */
export function readSpentScripts(spent: Uint8Array, layout: BlockLayout): ArrayBuffer {
  const { firstInput, inputCount, transactionCount } = layout;
  const scriptStart = new Uint32Array(inputCount);
  const scriptLength = new Uint32Array(inputCount);
  let at = compactSizeLength(spent[0]!);
  for (let tx = 0; tx < transactionCount; tx++) {
    const count = knownCompactSize(spent, at);
    at += compactSizeLength(spent[at]!);
    const first = firstInput[tx]!;
    for (let input = first; input < first + count; input++) {
      at += valueLength;
      const length = knownCompactSize(spent, at);
      at += compactSizeLength(spent[at]!);
      scriptStart[input] = at;
      scriptLength[input] = length;
      at += length;
    }
  }
  return encodeColumns(columnTypes, version, { scriptStart, scriptLength });
}

/** Views on what a worker has read. */
export function openSpentScripts(buffer: ArrayBuffer, bytes: Uint8Array, value: Float64Array): SpentScripts {
  return { ...decodeColumns(columnTypes, version, buffer, 'spent scripts'), bytes, value };
}
