import { compactSizeWidth, longCompactSize } from '#indexer/transaction/compact-size.ts';
import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import type { BlockTables } from './block-tables.ts';

/** Why spent outputs could not be used; `at` is a byte offset in them. */
export interface BrokenSpentOutputs {
  readonly code: 'block_truncated' | 'spent_outputs_mismatch';
  readonly at: number;
  readonly message: string;
}

/** Bytes of spent outputs, read forward. */
class SpentReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at = 0;
  isTruncated = false;
  isNotShortest = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** 0 where the bytes end; `isTruncated` says so. */
  compactSize(): number {
    const { bytes } = this;
    if (this.at >= bytes.length) return this.end();
    const prefix = bytes[this.at++] as number;
    if (prefix < 0xfd) return prefix;
    const size = longCompactSize(bytes, this.at, bytes.length, prefix);
    this.at += compactSizeWidth(prefix);
    if (this.at > bytes.length) return this.end();
    if (size < 0) this.isNotShortest = true;
    return Math.max(size, 0);
  }

  /** The value of the output here, in sats; moves behind its script. */
  output(): number {
    const { at } = this;
    if (at + 8 > this.bytes.length) return this.end();
    const value = this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 2 ** 32;
    this.at = at + 8;
    const scriptLength = this.compactSize();
    this.at += scriptLength;
    return this.at > this.bytes.length ? this.end() : value;
  }

  private end(): number {
    this.isTruncated = true;
    this.at = this.bytes.length;
    return 0;
  }
}

/**
 * Fills the values of inputs from a block's spent outputs (contracts/block-source.ts has their encoding). Null: they
 * fit the block, that is every transaction has as many as inputs, the coinbase none, no value is above what can
 * exist, and no transaction gives more than it takes.
 */
export function readSpentOutputs(spent: Uint8Array, tables: BlockTables): BrokenSpentOutputs | null {
  const reader = new SpentReader(spent);
  const { transactions } = tables;
  const txCount = reader.compactSize();
  if (txCount !== transactions.length) {
    return reader.isTruncated ? truncated(reader) : mismatch(reader, 'another number of transactions');
  }
  for (let tx = 0; tx < txCount; tx++) {
    const broken = readTransaction(reader, tables, tx);
    if (broken !== null) return broken;
  }
  if (reader.at < spent.length || reader.isNotShortest)
    return mismatch(reader, 'bytes that belong to nothing');
  return null;
}

function readTransaction(reader: SpentReader, tables: BlockTables, tx: number): BrokenSpentOutputs | null {
  const { transactions, inputs } = tables;
  const first = transactions.firstInput[tx] as number;
  const expected = tx === 0 ? 0 : (transactions.firstInput[tx + 1] as number) - first;
  const count = reader.compactSize();
  if (!reader.isTruncated && count !== expected) {
    return mismatch(reader, `another number of inputs in transaction ${tx}`);
  }
  let sum = 0;
  for (let input = 0; input < count && !reader.isTruncated; input++) {
    const value = reader.output();
    if (value > maxMoney) return mismatch(reader, 'a value that cannot exist');
    inputs.value[first + input] = value;
    sum += value;
  }
  if (reader.isTruncated) return truncated(reader);
  if (tx > 0 && sum < (transactions.outputValue[tx] as number)) {
    return mismatch(reader, `less than transaction ${tx} gives`);
  }
  transactions.inputValue[tx] = sum;
  return null;
}

const truncated = (reader: SpentReader): BrokenSpentOutputs => ({
  code: 'block_truncated',
  at: reader.at,
  message: 'the spent outputs end before they are complete',
});

const mismatch = (reader: SpentReader, what: string): BrokenSpentOutputs => ({
  code: 'spent_outputs_mismatch',
  at: reader.at,
  message: `the spent outputs have ${what}`,
});
