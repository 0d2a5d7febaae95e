import { compactSizeWidth, longCompactSize } from '#indexer/transaction/compact-size.ts';

const outpointLength = 36;
const sequenceLength = 4;

/** The outpoints that the transactions of a block spend: no two inputs of a valid block have the same. */
export class DistinctInputs {
  /** 53 bits of an outpoint -> where the first one with them stands. */
  private readonly seen = new Map<number, number>();
  /** Those that share their bits with another: somebody made them so, and they are compared whole. */
  private readonly others = new Set<string>();

  reset(): void {
    this.seen.clear();
    this.others.clear();
  }

  /** Adds the inputs of a transaction, which `at` counts. Gives the offset of one that was there before; -1: none was. */
  add(block: Buffer, at: number): number {
    const prefix = block[at++] as number;
    const count = prefix < 0xfd ? prefix : longCompactSize(block, at, block.length, prefix);
    if (prefix >= 0xfd) at += compactSizeWidth(prefix);
    for (let input = 0; input < count; input++) {
      if (this.isKnown(block, at)) return at;
      at += outpointLength;
      const length = block[at++] as number;
      const isLong = length >= 0xfd;
      at += isLong ? compactSizeWidth(length) + longCompactSize(block, at, block.length, length) : length;
      at += sequenceLength;
    }
    return -1;
  }

  private isKnown(block: Buffer, at: number): boolean {
    const vout = block.readUInt32LE(at + 32);
    const bits = block.readUInt32LE(at) + ((block.readUInt32LE(at + 4) ^ vout) & 0x1f_ffff) * 2 ** 32;
    const first = this.seen.get(bits);
    if (first === undefined) {
      this.seen.set(bits, at);
      return false;
    }
    if (block.compare(block, at, at + outpointLength, first, first + outpointLength) === 0) return true;
    const whole = block.toString('latin1', at, at + outpointLength);
    if (this.others.has(whole)) return true;
    this.others.add(whole);
    return false;
  }
}
