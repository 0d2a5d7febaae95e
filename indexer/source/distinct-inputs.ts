import { type BlockLayout, outpointLength } from '#indexer/transaction/block-layout.ts';

/** The outpoints that the transactions of a block spend: no two inputs of a valid block have the same. */
export class DistinctInputs {
  /** 53 bits of an outpoint -> where the first one with them stands. */
  readonly #seen = new Map<number, number>();
  /** Those that share their bits with another: somebody made them so, and they are compared whole. */
  readonly #others = new Set<string>();

  /** Offset of the first outpoint of the block that was spent before it there; -1: there is none. */
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
