import { type BlockLayout, outpointLength } from '#indexer/transaction/block-layout.ts';

/** Outpoints that the transactions of a block spend. In a valid block, no two inputs spend the same outpoint. */
export class DistinctInputs {
  /** Offset of the first outpoint with the given 53 bits. */
  readonly #seen = new Map<number, number>();
  /** Outpoints that share their 53 bits with another outpoint. They are crafted, and are compared in full. */
  readonly #others = new Set<string>();

  /** Offset of the first outpoint that the block spends a second time. -1: there is no such outpoint. */
  findDoubled(block: Uint8Array, { inputAt, inputCount }: BlockLayout): number {
    this.#seen.clear();
    this.#others.clear();
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.length);
    for (let input = 0; input < inputCount; input++) {
      const at = inputAt[input]!;
      if (this.#isKnown(bytes, at)) return at;
    }
    return -1;
  }

  #isKnown(block: Buffer, at: number): boolean {
    const vout = block.readUInt32LE(at + 32);
    const bits = block.readUInt32LE(at) + ((block.readUInt32LE(at + 4) ^ vout) & 0x1f_ffff) * 2 ** 32;
    const first = this.#seen.get(bits);
    if (first === undefined) {
      this.#seen.set(bits, at);
      return false;
    }
    if (block.compare(block, at, at + outpointLength, first, first + outpointLength) === 0) return true;
    const whole = block.toString('latin1', at, at + outpointLength);
    if (this.#others.has(whole)) return true;
    this.#others.add(whole);
    return false;
  }
}
