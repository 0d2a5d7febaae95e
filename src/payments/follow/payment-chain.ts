import { type Verification, verifyBlock } from '#indexer/source/verify-block.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

const headerLength = 80;

/** A source of raw blocks from a node. The blocks do not contain their spent outputs, which would double the size. */
export interface RawBlocks {
  block(hash: BlockHash, options?: { readonly signal?: AbortSignal }): Promise<Uint8Array>;
}

/** The best chain of a source, for the search for payments. */
export class PaymentChain {
  readonly name: string;
  readonly #source: BlockSource | LiveBlockSource;
  readonly #raw: RawBlocks | null;
  readonly #signal: AbortSignal;

  constructor(source: BlockSource | LiveBlockSource, raw: RawBlocks | null, signal: AbortSignal) {
    this.name = source.name;
    this.#source = source;
    this.#raw = raw;
    this.#signal = signal;
  }

  /** The last block. Returns null if the chain has no blocks. */
  async tip(): Promise<BlockRef | null> {
    if ('tip' in this.#source) return this.#source.tip(this.#signal);
    const last = (await this.#source.islands()).at(-1)?.lastHeight;
    return last === undefined ? null : ((await this.#source.refs(last)).at(-1) ?? null);
  }

  /**
   * The headers of up to `count` consecutive blocks from a height upwards, ascending. All come from the chain at one
   * moment. The list is empty above the tip.
   */
  async refs(from: Height, count: number): Promise<readonly BlockRef[]> {
    if ('headers' in this.#source) return this.#source.headers(from, count, this.#signal);
    return (await this.#source.refs(from)).slice(0, count);
  }

  async has({ height, hash }: BlockRef): Promise<boolean> {
    const [there] = await this.refs(height, 1);
    return there?.height === height && Buffer.compare(there.hash, hash) === 0;
  }

  /**
   * Whether a block that is not on the best chain may become part of it again without new blocks. This can happen after
   * the node lost some blocks.
   */
  async mayReturn({ height, hash }: BlockRef): Promise<boolean> {
    if (!('tip' in this.#source)) return false;
    const tip = await this.#source.tip(this.#signal);
    return tip.height < height && !(await this.#source.isInvalid(hash, this.#signal));
  }

  /**
   * Reads a raw block and checks it against its hash. If the source is trusted, only the header is checked, otherwise
   * the whole block. Throws the errors of `BlockSource.read`.
   */
  async bytes(ref: BlockRef): Promise<Uint8Array> {
    const bytes =
      this.#raw === null
        ? (await this.#source.read(ref, this.#signal)).bytes
        : await this.#raw.block(ref.hash, { signal: this.#signal });
    const problem = this.#problemOf(ref, bytes);
    if (problem === null) return bytes;
    const { height, hash } = ref;
    throw new AppError(problem.code, `Block ${height} of ${this.name}: ${problem.message}.`, {
      height,
      hash: displayHash(hash),
    });
  }

  #problemOf({ height, hash }: BlockRef, bytes: Uint8Array): Exclude<Verification, { ok: true }> | null {
    if (!this.#source.trusted) {
      const verified = verifyBlock(bytes, { hash, height, network: this.#source.network });
      return verified.ok ? null : verified;
    }
    const found = doubleSha256(bytes.subarray(0, headerLength));
    if (Buffer.compare(found, hash) === 0) return null;
    const message = 'the hash of the header is not the hash of the block';
    return { ok: false, code: 'block_corrupt', at: 0, message };
  }
}
