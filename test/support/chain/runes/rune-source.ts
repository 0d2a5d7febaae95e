import type { BlockRef, BlockSource, Island, SourceBlock } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { doubleHash } from '#test/builders/merkle.ts';
import type { FedBlock } from './rune-store.ts';

interface Block extends FedBlock {
  readonly ref: BlockRef;
}

const headerLength = 80;

/** Blocks without a proof of work as a trusted source. Each block is linked to the one before when it arrives. */
export class RuneSource implements BlockSource {
  readonly name = 'random runes';
  readonly network = 'regtest';
  readonly trusted = true;
  reads = 0;
  readonly #blocks: Block[] = [];
  #serial = 0;

  /** Adds a block on top, and returns its final form. */
  push({ height, bytes, spent }: FedBlock): FedBlock {
    const linked = Uint8Array.from(bytes);
    const below = this.#blocks.at(-1);
    if (below !== undefined) linked.set(below.ref.hash, 4);
    // replaces the merkle root, so that no two branches have the same block
    new DataView(linked.buffer).setUint32(36, ++this.#serial, true);
    const hash = asBlockHash(Uint8Array.from(doubleHash(linked.subarray(0, headerLength))));
    this.#blocks.push({ height, bytes: linked, spent, ref: { height: asHeight(height), hash } });
    return { height, bytes: linked, spent };
  }

  pop(): void {
    this.#blocks.pop();
  }

  /** Another source with the same blocks except those left out, and with spent outputs only for some. */
  without(isLeftOut: (height: number) => boolean, hasSpent: (height: number) => boolean): RuneSource {
    const other = new RuneSource();
    for (const block of this.#blocks)
      if (!isLeftOut(block.height))
        other.#blocks.push({ ...block, spent: hasSpent(block.height) ? block.spent : null });
    return other;
  }

  islands(): Promise<Island[]> {
    const islands: { firstHeight: Height; lastHeight: Height; start: object }[] = [];
    for (const { ref } of this.#blocks) {
      const last = islands.at(-1);
      if (last !== undefined && last.lastHeight === ref.height - 1) last.lastHeight = ref.height;
      else islands.push({ firstHeight: ref.height, lastHeight: ref.height, start: {} });
    }
    return Promise.resolve(islands);
  }

  refs(from = 0): Promise<BlockRef[]> {
    return Promise.resolve(this.#blocks.map(({ ref }) => ref).filter(({ height }) => height >= from));
  }

  read(ref: BlockRef): Promise<SourceBlock> {
    this.reads++;
    const block = this.#blocks.find((each) => Buffer.compare(each.ref.hash, ref.hash) === 0);
    if (block === undefined) throw new AppError('block_unavailable', `no block at ${ref.height}`);
    const { bytes, spent } = block;
    const copy = {
      bytes: Uint8Array.from(bytes),
      spentOutputs: spent === null ? null : Uint8Array.from(spent),
    };
    return Promise.resolve({ ref: block.ref, ...copy, spentHeights: null });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
