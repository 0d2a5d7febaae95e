import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Outputs that a block spends (contracts/block-source.ts, `spentOutputs`), with their heights if these are known. */
export interface SpentOutputs {
  readonly bytes: Uint8Array;
  readonly heights: Uint32Array | null;
}

/** A buffer to which bytes are appended. It grows by doubling. */
class Writer {
  #bytes = Buffer.alloc(64 * 1024);
  length = 0;

  compactSize(size: number): void {
    this.#reserve(9);
    if (size < 0xfd) {
      this.length = this.#bytes.writeUInt8(size, this.length);
    } else if (size <= 0xffff) {
      this.length = this.#bytes.writeUInt8(0xfd, this.length);
      this.length = this.#bytes.writeUInt16LE(size, this.length);
    } else {
      this.length = this.#bytes.writeUInt8(0xfe, this.length);
      this.length = this.#bytes.writeUInt32LE(size, this.length);
    }
  }

  sats(value: number): void {
    this.#reserve(8);
    this.length = this.#bytes.writeUInt32LE(value % 2 ** 32, this.length);
    this.length = this.#bytes.writeUInt32LE(Math.floor(value / 2 ** 32), this.length);
  }

  /** Appends the bytes of a hex text. Returns false if the text is not hex. */
  hex(text: string): boolean {
    this.#reserve(text.length / 2);
    const written = this.#bytes.write(text, this.length, 'hex');
    this.length += written;
    return written * 2 === text.length;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes.subarray(0, this.length));
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const longer = Buffer.alloc(Math.max(2 * this.#bytes.length, this.length + Math.ceil(count)));
    this.#bytes.copy(longer);
    this.#bytes = longer;
  }
}

/**
 * Encodes the spent outputs from `getblock <hash> 3` in the same way as `/rest/spenttxouts/<hash>.bin`. Throws
 * `node_answer_invalid` if an input other than the coinbase's has no spent output. The answer is then wrong, or the
 * node has lost undo data.
 */
export function encodeSpentOutputs(block: unknown): SpentOutputs {
  const transactions = listOf(block, 'tx');
  const writer = new Writer();
  const heights: number[] = [];
  writer.compactSize(transactions.length);
  for (const [index, transaction] of transactions.entries()) {
    const inputs = listOf(transaction, 'vin');
    const count = index === 0 ? 0 : inputs.length;
    writer.compactSize(count);
    for (const input of inputs.slice(0, count)) heights.push(writeOutput(writer, fieldOf(input, 'prevout')));
  }
  return { bytes: writer.finish(), heights: Uint32Array.from(heights) };
}

/** Writes one output. Returns the height of the block that created the output. */
function writeOutput(writer: Writer, output: unknown): number {
  const hex = fieldOf(fieldOf(output, 'scriptPubKey'), 'hex');
  const height = fieldOf(output, 'height');
  if (typeof hex !== 'string' || hex.length % 2 !== 0) throw invalid('scriptPubKey');
  if (typeof height !== 'number' || !Number.isInteger(height) || height < 0 || height > 0xffff_ffff) {
    throw invalid('height');
  }
  writer.sats(satsOfBitcoins(fieldOf(output, 'value')));
  writer.compactSize(hex.length / 2);
  if (!writer.hex(hex)) throw invalid('scriptPubKey');
  return height;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) throw invalid(name);
  return (value as Record<string, unknown>)[name];
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  if (!Array.isArray(list)) throw invalid(name);
  return list;
}

const invalid = (field: string): AppError =>
  new AppError(
    'node_answer_invalid',
    `The node returned a block with a spent output that has no valid ${field}.`,
    {
      field,
    },
  );
