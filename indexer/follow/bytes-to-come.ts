import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** Number of sampled sizes: enough to estimate the sum within a few per cent, as mainnet's blocks vary. */
const samplesMax = 64;
/** Blocks per sample. A node takes three milliseconds for a size: less than a tenth of a millisecond per block. */
const blocksPerSample = 50;
/** Fewest samples. A load of fewer blocks is over before anyone asks for its duration. */
const samplesMin = 8;

/** Blocks to come, in order. */
export interface ComingBlocks {
  readonly count: number;
  readonly heightAt: (index: number) => Height;
}

/** The size of coming blocks, estimated from samples: an early block of mainnet is far smaller than a late one. */
export class BytesToCome {
  /** Number of blocks to come at the time of the sample. */
  readonly count: number;
  /** Sizes of blocks in the middle of equal parts. */
  readonly #samples: readonly number[];

  private constructor(count: number, samples: readonly number[]) {
    this.count = count;
    this.#samples = samples;
  }

  /** Reads the samples; null: the source does not know its sizes. */
  static async sample(
    source: BlockSource,
    { count, heightAt }: ComingBlocks,
    signal: AbortSignal,
  ): Promise<BytesToCome | null> {
    const samples: number[] = [];
    const wanted = Math.min(count, samplesMax, Math.max(samplesMin, Math.ceil(count / blocksPerSample)));
    for (let part = 0; part < wanted; part++) {
      const height = heightAt(Math.floor(((part + 0.5) * count) / wanted));
      // one at a time: the blocks themselves have precedence
      const size = (await source.sizeOf?.(height, signal)) ?? null;
      if (size === null) return null;
      samples.push(size);
    }
    return samples.length === 0 ? null : new BytesToCome(count, samples);
  }

  /** The size of all blocks after the first `done` ones. Values out of range count as the nearest bound. */
  after(done: number): number {
    const perPart = this.count / this.#samples.length;
    const partsDone = Math.min(Math.max(done, 0), this.count) / perPart;
    return this.#samples.reduce(
      (sum, size, part) => sum + size * perPart * Math.min(1, Math.max(0, part + 1 - partsDone)),
      0,
    );
  }
}
