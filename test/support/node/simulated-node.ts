import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRef, Island, SourceBlock } from '#kernel/contracts/block-source.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { waitUntil } from '#test/support/wait-until.ts';

interface Block {
  readonly ref: HeaderRef;
  readonly bytes: Uint8Array;
  readonly spent: Uint8Array | null;
}

const internal = (hash: string): BlockHash => {
  const bytes = parseBlockHash(hash);
  if (bytes === null) throw new Error(`${hash} is not a hash`);
  return bytes;
};

/**
 * A node in this process, with the blocks of a golden chain. It grows, reorganises and fails when a test says so. It is
 * for events that a real node produces at unpredictable times. Tests of a node's responses use real nodes.
 */
export class SimulatedNode implements LiveBlockSource {
  readonly name = 'simulated node';
  readonly network: NetworkName;
  readonly trusted = true;
  hasCookieFile = false;
  /** Counts of requested tips, requested headers, and read blocks. */
  tipsGiven = 0;
  headersGiven = 0;
  reads = 0;
  /** Every call throws this error while it is set. */
  failure: AppError | null = null;
  /** Called before a block is returned. */
  onRead: (ref: BlockRef) => Promise<void> | void = () => undefined;
  readonly invalid = new Set<string>();
  readonly #blocks = new Map<string, Block>();
  #chain: readonly Block[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(golden: GoldenChain) {
    this.network = golden.chain.network;
    const branches = [golden.chain.headers, ...golden.chain.staleBranches.map(({ headers }) => headers)];
    for (const header of branches.flat()) {
      const { bytes, spent } = golden.block(header);
      const height = asHeight(header.height);
      const ref = { height, hash: internal(header.hash), header: bytes.slice(0, 80) };
      this.#blocks.set(header.hash, { ref, bytes, spent });
    }
    this.setTip(golden.chain.tip);
  }

  /** Makes the chain that ends in this block (display order) the best one. The chain is cut off above `height`. */
  setTip(hash: string, height = Number.POSITIVE_INFINITY): void {
    const chain: Block[] = [];
    for (let at = this.#blocks.get(hash); at !== undefined; ) {
      if (at.ref.height <= height) chain.push(at);
      at = this.#blocks.get(displayHash(at.ref.header.subarray(4, 36)));
    }
    this.#chain = chain.reverse();
    this.wake();
  }

  get best(): readonly BlockRef[] {
    return this.#chain.map(({ ref }) => ref);
  }

  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  islands(): Promise<Island[]> {
    const last = this.#chain.at(-1);
    if (last === undefined) return Promise.resolve([]);
    const { height: lastHeight } = last.ref;
    return Promise.resolve([{ firstHeight: genesisHeight, lastHeight, start: {} }]);
  }

  async refs(from = 0): Promise<BlockRef[]> {
    await this.#answer();
    return this.best.slice(from);
  }

  /** Settles when a follower has everything that it needs, and waits for news. */
  async whenAwaited(): Promise<void> {
    await waitUntil(() => this.#waiting.size > 0, { everyMs: 2 });
  }

  async tip(): Promise<BlockRef> {
    await this.#answer();
    this.tipsGiven++;
    return this.best.at(-1) as BlockRef;
  }

  async headers(fromHeight: number, count: number): Promise<HeaderRef[]> {
    await this.#answer();
    const headers = this.#chain.slice(fromHeight, fromHeight + count).map(({ ref }) => ref);
    this.headersGiven += headers.length;
    return headers;
  }

  async isInvalid(hash: Uint8Array): Promise<boolean> {
    await this.#answer();
    return this.invalid.has(displayHash(hash));
  }

  async news(timeoutMs: number, signal: AbortSignal): Promise<void> {
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      }),
      sleep(timeoutMs, undefined, { signal }).catch(() => undefined),
    ]);
    this.#waiting.clear();
  }

  async read(ref: BlockRef): Promise<SourceBlock> {
    await this.#answer();
    await this.onRead(ref);
    this.reads++;
    const block = this.#blocks.get(displayHash(ref.hash));
    if (block === undefined) throw new AppError('block_unavailable', `no block ${displayHash(ref.hash)}`);
    // copies, because their buffers are transferred
    const spentOutputs = block.spent === null ? null : Uint8Array.from(block.spent);
    return { ref, bytes: Uint8Array.from(block.bytes), spentOutputs, spentHeights: null };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #answer(): Promise<void> {
    await Promise.resolve();
    if (this.failure !== null) throw this.failure;
  }
}
