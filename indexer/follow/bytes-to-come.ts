import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { Height } from '#kernel/primitives/height.ts';

/**
 * Maximum number of sampled sizes. They are enough to estimate the sum within a few per cent, given how mainnet's
 * blocks vary.
 */
const samplesMax = 64;
/**
 * Minimum number of blocks per sample. A node takes three milliseconds per size, so a block costs less than a tenth of
 * a millisecond.
 */
const blocksPerSample = 50;
/** Minimum number of samples. A load of fewer blocks ends before anyone asks for its duration. */
const samplesMin = 8;

/** Blocks that are still to be loaded, in order. */
export interface ComingBlocks {
  readonly count: number;
  readonly heightAt: (index: number) => Height;
}

/**
 * The size of the blocks still to be loaded, estimated from samples, because early blocks of mainnet are far smaller
 * than late blocks.
 */
export class BytesToCome {
  /** Number of blocks to come at the time of the sample. */
  readonly count: number;
  /** Sampled sizes: the blocks to come are split into equal parts, and the middle block of each part is a sample. */
  readonly #samples: readonly number[];

  private constructor(count: number, samples: readonly number[]) {
    this.count = count;
    this.#samples = samples;
  }

  /** Reads the samples. Null: the source does not know its sizes. */
  static async sample(
    source: BlockSource,
    { count, heightAt }: ComingBlocks,
    signal: AbortSignal,
  ): Promise<BytesToCome | null> {
    const samples: number[] = [];
    const wanted = Math.min(count, samplesMax, Math.max(samplesMin, Math.ceil(count / blocksPerSample)));
    for (let part = 0; part < wanted; part++) {
      const height = heightAt(Math.floor(((part + 0.5) * count) / wanted));
      // one request at a time, because the blocks themselves have precedence
      const size = (await source.sizeOf?.(height, signal)) ?? null;
      if (size === null) return null;
      samples.push(size);
    }
    return samples.length === 0 ? null : new BytesToCome(count, samples);
  }

  /** The size of all blocks after the first `done` blocks. A value out of range is treated as the nearest bound. */
  after(done: number): number {
    const perPart = this.count / this.#samples.length;
    const partsDone = Math.min(Math.max(done, 0), this.count) / perPart;
    return this.#samples.reduce(
      (sum, size, part) => sum + size * perPart * Math.min(1, Math.max(0, part + 1 - partsDone)),
      0,
    );
  }
}
