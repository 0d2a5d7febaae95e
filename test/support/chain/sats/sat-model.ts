import { Block } from 'bitcoinjs-lib';

type Range = readonly [start: bigint, end: bigint];

const halving = 210_000;

/**
 * The sats that a height mints: its first sat, and the first sat after its subsidy. Sums up the subsidies of all blocks
 * before.
 */
function minted(height: number): Range {
  let first = 0n;
  let left = height;
  let subsidy = 5_000_000_000n;
  for (; left >= halving; left -= halving, subsidy /= 2n) first += subsidy * BigInt(halving);
  first += subsidy * BigInt(left);
  return [first, first + subsidy];
}

/** The part of each range that is in a window of sats. The window counts sats from the start of the first range. */
function window(ranges: readonly Range[], from: bigint, to: bigint): Range[] {
  const covered: Range[] = [];
  let at = 0n;
  for (const [start, end] of ranges) {
    const low = from > at ? from - at : 0n;
    const high = to - at < end - start ? to - at : end - start;
    if (low < high) covered.push([start + low, start + high]);
    at += end - start;
  }
  return covered;
}

const size = (ranges: readonly Range[]): bigint =>
  ranges.reduce((sum, [start, end]) => sum + end - start, 0n);

/**
 * Follows sats only by the rules: every output is a window of the sats that flow into its transaction. Written from the
 * description of ordinal theory (BIP "Ordinal Numbers"), with bigints and another library's block reader.
 */
export class SatModel {
  unspent = new Map<string, readonly Range[]>();
  lost: Range[] = [];
  /** Sats of coinbases that a twin replaced. */
  replaced: Range[] = [];

  apply(height: number, bytes: Uint8Array): void {
    const { transactions = [] } = Block.fromBuffer(Buffer.from(bytes));
    const left: Range[] = [];
    for (const transaction of transactions.slice(1)) {
      const inputs = transaction.ins.flatMap(({ hash, index }) => {
        const name = `${Buffer.from(hash).reverse().toString('hex')}:${index}`;
        const held = this.unspent.get(name) ?? [];
        this.unspent.delete(name);
        return held;
      });
      left.push(...this.#give(transaction, inputs));
    }
    const [coinbase] = transactions;
    if (coinbase === undefined) throw new Error('a block has a coinbase');
    this.lost.push(...this.#give(coinbase, [minted(height), ...left]));
  }

  #give(transaction: { getId(): string; outs: { value: bigint }[] }, ranges: readonly Range[]): Range[] {
    let at = 0n;
    for (const [vout, { value }] of transaction.outs.entries()) {
      const name = `${transaction.getId()}:${vout}`;
      this.replaced.push(...(this.unspent.get(name) ?? []));
      this.unspent.delete(name);
      if (value > 0n) this.unspent.set(name, window(ranges, at, at + value));
      at += value;
    }
    return window(ranges, at, size(ranges));
  }

  ranges(): Record<string, [number, number][]> {
    const shown = [...this.unspent].map(([name, ranges]): [string, [number, number][]] => [
      name,
      ranges.map(([start, end]) => [Number(start), Number(end)]),
    ]);
    return Object.fromEntries(shown);
  }

  /** Locations of the sats that begin a block's subsidy, found in the ranges of outputs. */
  rareAmong(heights: number): Map<number, string> {
    const firsts = new Set(Array.from({ length: heights }, (_, height) => minted(height)[0]));
    const places = new Map<number, string>();
    const seek = (output: string, ranges: readonly Range[]): void => {
      let at = 0n;
      for (const [start, end] of ranges) {
        for (const first of firsts)
          if (start <= first && first < end) places.set(Number(first), `${output}:${at + first - start}`);
        at += end - start;
      }
    };
    for (const [name, ranges] of this.unspent) seek(name, ranges);
    seek(`${'0'.repeat(64)}:4294967295`, this.lost);
    return places;
  }
}
