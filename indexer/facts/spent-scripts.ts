import { type ColumnsOf, decodeColumns, encodeColumns } from '#indexer/parse/column-buffer.ts';
import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { valueLength } from '#indexer/transaction/block-layout.ts';
import { compactSizeLength, knownCompactSize } from '#indexer/transaction/compact-size.ts';

/**
 * Positions of the scripts of spent outputs: the fact `spent-scripts`. One element per input, including the coinbase's
 * input.
 */
const columnTypes = {
  /**
   * Range of the script in the spent outputs that came with the block. The length is 0 for the coinbase, and for an
   * output whose owner a folder marks as unknown.
   */
  scriptStart: Uint32Array,
  scriptLength: Uint32Array,
} as const;

type ScriptColumns = ColumnsOf<typeof columnTypes>;

/** Script and value of the output that each input spends. */
export interface SpentScripts extends ScriptColumns {
  /** The bytes that contain the scripts: the spent outputs from the source. */
  readonly bytes: Uint8Array;
  /** Sats; the block's column `inputValue`. */
  readonly value: Float64Array;
}

const version = 1;

/**
 * Reads the positions of the scripts in spent outputs that the parser has already checked
 * (indexer/parse/spent-outputs.ts). Cost: one step per spent output, and 8 bytes per input.
 */
export function readSpentScripts(spent: Uint8Array, layout: BlockLayout): ArrayBuffer {
  const scripts = {
    scriptStart: new Uint32Array(layout.inputCount),
    scriptLength: new Uint32Array(layout.inputCount),
  };
  fillScripts(spent, layout, scripts);
  return encodeColumns(columnTypes, version, scripts);
}

/**
 * Fills the ranges of scripts. The loop has its own function, because V8 compiles it while it runs, and code after the
 * loop would make V8 discard the compiled loop.
 */
function fillScripts(
  spent: Uint8Array,
  { firstInput, transactionCount }: BlockLayout,
  { scriptStart, scriptLength }: ScriptColumns,
): void {
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
}

/** Views of an encoded result. */
export function openSpentScripts(buffer: ArrayBuffer, bytes: Uint8Array, value: Float64Array): SpentScripts {
  return { ...decodeColumns(columnTypes, version, buffer, 'spent scripts'), bytes, value };
}
