import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { ScriptSet } from '#payments/memory/script-set.ts';
import { type FoundTransaction, TransactionScan } from '#payments/memory/transaction-scan.ts';
import type { UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import {
  jumpOffset,
  moveOffset,
  readPaymentBlocks,
  rememberedBlocks,
  stepOffsetBack,
} from '#payments/store/offset.store.ts';
import {
  readBlocksWithPayments,
  readUnconfirmed,
  tellPayments,
  unconfirmAbove,
  writeConfirmed,
  writeReplaced,
} from '#payments/store/payments.store.ts';
import { lowerWatches, nextToScan, scanAllAgain, scanned } from '#payments/store/watches.store.ts';
import type { PaymentChain } from './payment-chain.ts';

/**
 * Maximum number of blocks per round. A full round takes one or two seconds. New watches and the mempool
 * are processed between rounds.
 */
const blocksAtOnce = 50;
/**
 * Number of headers per page of a node. All headers of a page come from one chain, and no reorganisation is deeper than
 * a page.
 */
const pageRefs = 2000;
/** Byte offset of the time in a block header. */
const timeAt = 68;

export interface BlockPaymentsOptions {
  readonly client: pg.ClientBase;
  readonly chain: PaymentChain;
  readonly scripts: () => ScriptSet;
  readonly unconfirmed: UnconfirmedPayments;
}

/**
 * Result of a step:
 *
 * - `atTip`: the offset is the source's tip.
 * - `behind`: there is more to do.
 * - `waiting`: the source now has fewer blocks than were scanned, and may get the missing blocks again.
 */
export type Progress = 'atTip' | 'behind' | 'waiting';

/** Result of one step over old blocks. */
export interface ScanProgress {
  /** Whether there are more old blocks to scan. */
  readonly hasMore: boolean;
  /**
   * A block that the source does not have, or no longer has. Watches whose next block is at or below this height wait
   * for the block. Null if the source has all blocks.
   */
  readonly missing: { readonly height: Height; readonly problem: AppError } | null;
}

/**
 * Finds payments in blocks: follows the chain by the offset, undoes blocks that left the chain, and scans old blocks.
 */
export class BlockPayments {
  readonly #options: BlockPaymentsOptions;
  /** The last blocks up to the offset, ascending. */
  #remembered: BlockRef[] = [];

  constructor(options: BlockPaymentsOptions) {
    this.#options = options;
  }

  /** The last scanned block. Null if no block was scanned. */
  get offset(): BlockRef | null {
    return this.#remembered.at(-1) ?? null;
  }

  /** Reads the state that the last process stored. */
  async load(): Promise<void> {
    const { client } = this.#options;
    this.#remembered = await readPaymentBlocks(client);
    await this.#loadUnconfirmed();
  }

  async #loadUnconfirmed(): Promise<void> {
    const { client, unconfirmed } = this.#options;
    unconfirmed.clear();
    for (const payment of await readUnconfirmed(client)) unconfirmed.add(payment);
  }

  /** Advances the offset towards the tip of the source. */
  async follow(): Promise<Progress> {
    const { chain, scripts } = this.#options;
    const { offset } = this;
    if (offset === null || scripts().size === 0) return this.#jump(offset);
    const refs = await chain.refs(offset.height, blocksAtOnce + 1);
    const [first, ...next] = refs;
    if (first === undefined || Buffer.compare(first.hash, offset.hash) !== 0) return this.#part(offset);
    for (const ref of next) await this.#apply(ref);
    return next.length < blocksAtOnce ? 'atTip' : 'behind';
  }

  /**
   * Scans some blocks up to the offset. Only watches that begin below the offset need these blocks.
   *
   * @param above watches whose next block is at or below this height are skipped
   */
  async scanOld(above: Height | -1): Promise<ScanProgress> {
    const { client, chain } = this.#options;
    const { offset } = this;
    const from = offset === null ? null : await nextToScan(client, above);
    if (offset === null || from === null) return { hasMore: false, missing: null };
    const page = await chain.refs(from, pageRefs);
    const refs = page.filter(({ height }) => height <= offset.height);
    // the chain was reorganised, so the next round undoes blocks first
    if (!leadsTo(offset, refs, page.length)) return { hasMore: true, missing: null };
    const { end, problem } = await this.#scanAll(refs.slice(0, blocksAtOnce), asHeight(offset.height + 1));
    await withTransaction(client, (tx) => scanned(tx, from, end, offset.height));
    failpoint('payments-scan');
    return { hasMore: end <= offset.height, missing: problem === null ? null : { height: end, problem } };
  }

  /**
   * Scans blocks until one is missing. `end` is the height of the missing block, or the height after the last block.
   */
  async #scanAll(
    refs: readonly BlockRef[],
    endOfNone: Height,
  ): Promise<{ end: Height; problem: AppError | null }> {
    for (const ref of refs) {
      try {
        await this.#scan(ref);
      } catch (error) {
        const isMissing =
          error instanceof AppError && (error.code === 'node_pruned' || error.code === 'block_unavailable');
        if (!isMissing) throw error;
        return { end: ref.height, problem: error };
      }
    }
    const last = refs.at(-1);
    return { end: last === undefined ? endOfNone : asHeight(last.height + 1), problem: null };
  }

  /** Moves the offset to the tip without scanning, because no script is watched, or there is no offset yet. */
  async #jump(offset: BlockRef | null): Promise<Progress> {
    const { client, chain } = this.#options;
    const tip = await chain.tip();
    if (tip === null) return 'atTip';
    if (offset !== null && Buffer.compare(tip.hash, offset.hash) === 0) return 'atTip';
    const blocks = await this.#blocksUpTo(tip);
    // the chain has changed between two requests
    if (blocks === null) return 'behind';
    await withTransaction(client, (tx) => jumpOffset(tx, blocks, 0));
    failpoint('payments-block');
    this.#remembered = blocks;
    return 'atTip';
  }

  /** The blocks to remember if this block becomes the offset. Returns null if this block is no longer in the chain. */
  async #blocksUpTo({ height, hash }: BlockRef): Promise<BlockRef[] | null> {
    const first = asHeight(Math.max(0, height - rememberedBlocks + 1));
    const page = await this.#options.chain.refs(first, rememberedBlocks);
    const blocks = page
      .filter((ref) => ref.height <= height)
      .map((ref) => ({ height: ref.height, hash: ref.hash }));
    const last = blocks.at(-1);
    return last !== undefined && Buffer.compare(last.hash, hash) === 0 ? blocks : null;
  }

  async #apply(ref: BlockRef): Promise<void> {
    const { client, unconfirmed, scripts } = this.#options;
    const { offset } = this;
    const { found, timeMs } = await this.#look(ref);
    const replaced = found.flatMap(({ txid: by, conflicts }) => conflicts.map((txid) => ({ txid, by })));
    const paying = found.filter(({ outputs }) => outputs.length > 0);
    await withTransaction(client, async (tx) => {
      const hasPaid = await writeConfirmed(tx, ref, seenAt(paying, timeMs), true);
      const hasReplaced = await writeReplaced(tx, replaced);
      if (hasPaid || hasReplaced) await tellPayments(tx);
      await moveOffset(tx, ref, offset, scripts().size);
    });
    failpoint('payments-block');
    this.#remembered = [...this.#remembered, { height: ref.height, hash: ref.hash }].slice(-rememberedBlocks);
    for (const { txid } of paying) unconfirmed.delete(txid);
    for (const { txid } of replaced) {
      const payment = unconfirmed.get(txid);
      if (payment !== null) payment.isGone = true;
    }
  }

  async #scan(ref: BlockRef): Promise<void> {
    const { client, unconfirmed } = this.#options;
    const { found, timeMs } = await this.#look(ref);
    const paying = found.filter(({ outputs }) => outputs.length > 0);
    if (paying.length === 0) return;
    const isRemembered = ref.height > (this.offset?.height ?? 0) - rememberedBlocks;
    await withTransaction(client, async (tx) => {
      if (await writeConfirmed(tx, ref, seenAt(paying, timeMs), isRemembered)) await tellPayments(tx);
    });
    for (const { txid } of paying) unconfirmed.delete(txid);
  }

  async #look(ref: BlockRef): Promise<{ found: FoundTransaction[]; timeMs: number }> {
    const { chain, scripts, unconfirmed } = this.#options;
    const bytes = await chain.bytes(ref);
    const seconds = new DataView(bytes.buffer, bytes.byteOffset).getUint32(timeAt, true);
    const found = new TransactionScan(scripts(), unconfirmed).block(bytes);
    if (!Array.isArray(found))
      throw new AppError(found.code, `Block ${ref.height} of ${chain.name}: ${found.message}.`);
    // the time in a block's header may be two hours in the future
    return { found, timeMs: Math.min(seconds * 1000, Date.now()) };
  }

  /** Goes back to the last common block, because the offset is not in the source's chain. */
  async #part(offset: BlockRef): Promise<Progress> {
    const { client, chain, scripts } = this.#options;
    if (await chain.mayReturn(offset)) return 'waiting';
    let shared = this.#remembered.length - 1;
    let last = this.#remembered[shared];
    while (last !== undefined && !(await chain.has(last))) last = this.#remembered[--shared];
    if (last === undefined) return this.#beginAgain();
    await withTransaction(client, async (tx) => {
      // update watches before payments, because the end of a watch locks both in this order
      await lowerWatches(tx, last.height);
      if (await unconfirmAbove(tx, last.height)) await tellPayments(tx);
      await stepOffsetBack(tx, last, scripts().size);
    });
    failpoint('payments-undo');
    this.#remembered = this.#remembered.slice(0, shared + 1);
    await this.#loadUnconfirmed();
    return 'behind';
  }

  /**
   * Sets all watches to scan their blocks again, because none of the remembered blocks is in the chain. Payments in
   * blocks that are in the chain stay.
   */
  async #beginAgain(): Promise<Progress> {
    const { client, chain, scripts } = this.#options;
    const tip = await chain.tip();
    const blocks = tip === null ? null : await this.#blocksUpTo(tip);
    if (tip === null || blocks === null) return 'waiting';
    let known: Height | -1 = -1;
    for (const block of await readBlocksWithPayments(client)) {
      if (!(await chain.has(block))) continue;
      known = block.height;
      break;
    }
    // the chain has changed since its tip was read
    if (known > tip.height) return 'behind';
    await withTransaction(client, async (tx) => {
      await scanAllAgain(tx, tip.height);
      if (await unconfirmAbove(tx, known)) await tellPayments(tx);
      await jumpOffset(tx, blocks, scripts().size);
    });
    failpoint('payments-undo');
    this.#remembered = blocks;
    await this.#loadUnconfirmed();
    return 'behind';
  }
}

/**
 * Whether a page belongs to the offset's chain. `refs` are the page's blocks up to the offset's height. Either their
 * last block is the offset, or the page is full and all its blocks are below the offset.
 */
function leadsTo({ height, hash }: BlockRef, refs: readonly BlockRef[], pageLength: number): boolean {
  const last = refs.at(-1);
  if (last === undefined) return false;
  if (last.height < height) return pageLength === pageRefs;
  return Buffer.compare(last.hash, hash) === 0;
}

const seenAt = (found: readonly FoundTransaction[], firstSeenMs: number) =>
  found.map((one) => ({
    found: one,
    firstSeenMs,
    spends: [{ spender: one.txid, outpoints: one.outpoints }],
  }));
