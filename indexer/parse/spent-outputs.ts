import { type BlockLayout, valueLength } from '#indexer/transaction/block-layout.ts';
import { breakFound, compactSizeAt, compactSizeLength, sizedEnd } from '#indexer/transaction/compact-size.ts';
import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import type { BlockTables } from './block-tables.ts';

/** Why spent outputs are unusable; `at` is a byte offset in them. */
export interface BrokenSpentOutputs {
  readonly code: 'block_truncated' | 'spent_outputs_mismatch';
  readonly at: number;
  readonly message: string;
}

/**
 * Reads the outputs that a block spends, moving forward. Any bytes give a result: broken bytes read as zeros, and flags
 * report them.
 */
export class SpentReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at = 0;
  isTruncated = false;
  isNotShortest = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads a compact size. Returns 0 if the bytes are broken; flags report it. */
  compactSize(): number {
    const { bytes, at } = this;
    const size = compactSizeAt(bytes, at, bytes.length);
    if (size < 0) return this.#break();
    this.at = at + compactSizeLength(bytes[at]!);
    return size;
  }

  /** The value of the current output, in sats. Moves past its script. */
  output(): number {
    const { at, bytes } = this;
    const after = sizedEnd(bytes, at + valueLength, bytes.length);
    if (after < 0) return this.#break();
    this.at = after;
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 2 ** 32;
  }

  get isBroken(): boolean {
    return this.isTruncated || this.isNotShortest;
  }

  #break(): number {
    if (breakFound.kind === 'truncated') this.isTruncated = true;
    else this.isNotShortest = true;
    this.at = breakFound.at;
    return 0;
  }
}

/**
 * Fills in the values of inputs from a block's spent outputs (contracts/block-source.ts has their encoding). Returns
 * null if they match the block: every transaction has as many spent outputs as inputs, the coinbase has none, no value
 * exceeds the maximum, and no transaction's outputs exceed its inputs.
 */
export function readSpentOutputs(
  spent: Uint8Array,
  layout: BlockLayout,
  tables: BlockTables,
): BrokenSpentOutputs | null {
  const reader = new SpentReader(spent);
  const txCount = reader.compactSize();
  if (txCount !== layout.transactionCount) {
    return reader.isTruncated ? truncated(reader) : mismatch(reader, 'another number of transactions');
  }
  for (let tx = 0; tx < txCount; tx++) {
    const broken = readTransaction(reader, layout, tables, tx);
    if (broken !== null) return broken;
  }
  if (reader.at < spent.length || reader.isNotShortest)
    return mismatch(reader, 'bytes after the last output');
  return null;
}

function readTransaction(
  reader: SpentReader,
  layout: BlockLayout,
  tables: BlockTables,
  tx: number,
): BrokenSpentOutputs | null {
  const { firstInput, outputValue } = layout;
  const { transactions, inputs } = tables;
  const first = firstInput[tx]!;
  const expected = tx === 0 ? 0 : firstInput[tx + 1]! - first;
  const count = reader.compactSize();
  if (!reader.isTruncated && count !== expected) {
    return mismatch(reader, `another number of inputs in transaction ${tx}`);
  }
  let sum = 0;
  for (let input = 0; input < count && !reader.isTruncated; input++) {
    const value = reader.output();
    if (value > maxMoney) return mismatch(reader, 'an impossible value');
    inputs.value[first + input] = value;
    sum += value;
  }
  if (reader.isTruncated) return truncated(reader);
  if (tx > 0 && sum < outputValue[tx]!) {
    return mismatch(reader, `fewer outputs than transaction ${tx} spends`);
  }
  transactions.inputValue[tx] = sum;
  return null;
}

const truncated = (reader: SpentReader): BrokenSpentOutputs => ({
  code: 'block_truncated',
  at: reader.at,
  message: 'the data of the spent outputs is incomplete',
});

const mismatch = (reader: SpentReader, what: string): BrokenSpentOutputs => ({
  code: 'spent_outputs_mismatch',
  at: reader.at,
  message: `the spent outputs have ${what}`,
});
