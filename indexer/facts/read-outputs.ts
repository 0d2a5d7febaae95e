import { type BlockLayout, outpointLength } from '#indexer/transaction/block-layout.ts';
import {
  type FingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { withRoom } from '#kernel/growable.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { encodeOutputColumns, type OutputColumns } from './output-columns.ts';

const hashLength = 32;
const opReturn = 0x6a;
/** Maximum length in bytes of a script that can be executed: Bitcoin Core's MAX_SCRIPT_SIZE (script/script.h). */
const scriptBytesMax = 10_000;

/**
 * Heights of coinbases whose txids were repeated, at 91842 and 91880, before any of their outputs was spent (BIP 30).
 * The later outputs replaced these outputs.
 */
const overwrittenCoinbases: ReadonlySet<number> = new Set([91_722, 91_812]);

export interface OutputsOf {
  readonly height: Height;
  readonly network: NetworkName;
  readonly key: FingerprintKey;
  /** Txids of all transactions, 32 bytes each. */
  readonly txids: Uint8Array<ArrayBuffer>;
}

/**
 * Reads the outputs and spends of blocks from their layout. Unspendable outputs (OP_RETURN, scripts longer than 10,000
 * bytes) are left out, because they have no address either. Reusable: it keeps the memory of the largest block.
 *
 * Cost: one probe per output and input.
 */
export class OutputReader {
  #txids = new Uint8Array(0);
  #value = new Float64Array(4096);
  #tx = new Uint32Array(4096);
  #vout = new Uint32Array(4096);
  #scriptStart = new Uint32Array(4096);
  #scriptLength = new Uint32Array(4096);
  #high = new Uint32Array(4096);
  #spent = new Uint8Array(4096);
  #spendAt = new Uint32Array(4096);
  /** Row of an output plus one, by its fingerprint; 0 in a free slot. Open addressing, at most half full. */
  #slots = new Int32Array(8192);
  #outputs = 0;
  #spends = 0;
  readonly #outpoint = new Uint8Array(outpointLength);
  readonly #outpointView = new DataView(this.#outpoint.buffer);

  /** Reads a block. Returns encoded OutputColumns. */
  read(block: Uint8Array, layout: BlockLayout, of: OutputsOf): ArrayBuffer {
    this.#txids = of.txids;
    this.#readOutputs(block, layout, of);
    this.#fillSlots(of.key);
    this.#readSpends(block, layout, of.key);
    return encodeOutputColumns(this.#columns(layout.transactionCount));
  }

  #readOutputs(block: Uint8Array, layout: BlockLayout, { height, network }: OutputsOf): void {
    this.#outputs = 0;
    const walk = new OutputWalk(block);
    const isOverwritten = network === 'mainnet' && overwrittenCoinbases.has(height);
    for (let tx = isOverwritten ? 1 : 0; tx < layout.transactionCount; tx++) {
      walk.open(layout.outputsAt[tx]!);
      while (walk.next()) {
        const { scriptStart, scriptLength } = walk;
        if (scriptLength > scriptBytesMax || (scriptLength > 0 && block[scriptStart] === opReturn)) continue;
        this.#addOutput(tx, walk);
      }
    }
  }

  #addOutput(tx: number, walk: OutputWalk): void {
    const row = this.#outputs++;
    if (row === this.#value.length) this.#growOutputs(row + 1);
    this.#value[row] = walk.value;
    this.#tx[row] = tx;
    this.#vout[row] = walk.vout;
    this.#scriptStart[row] = walk.scriptStart;
    this.#scriptLength[row] = walk.scriptLength;
    this.#spent[row] = 0;
  }

  #growOutputs(length: number): void {
    this.#value = withRoom(this.#value, length);
    this.#tx = withRoom(this.#tx, length);
    this.#vout = withRoom(this.#vout, length);
    this.#scriptStart = withRoom(this.#scriptStart, length);
    this.#scriptLength = withRoom(this.#scriptLength, length);
    this.#high = withRoom(this.#high, length);
    this.#spent = withRoom(this.#spent, length);
  }

  /**
   * Fills the slots of outputs. Fingerprints are keyed, so no one can craft a block that puts its outputs into one
   * slot.
   */
  #fillSlots(key: FingerprintKey): void {
    const outputs = this.#outputs;
    const outpoint = this.#outpoint;
    const outpointView = this.#outpointView;
    const leaves = this.#txids;
    let size = 8192;
    while (size < outputs * 2) size *= 2;
    if (size > this.#slots.length) this.#slots = new Int32Array(size);
    else this.#slots.fill(0);
    const mask = this.#slots.length - 1;
    let last = -1;
    for (let row = 0; row < outputs; row++) {
      const tx = this.#tx[row]!;
      if (tx !== last) outpoint.set(leaves.subarray(tx * hashLength, (tx + 1) * hashLength));
      last = tx;
      outpointView.setUint32(hashLength, this.#vout[row]!, true);
      fingerprintOutpoint(outpointView, 0, key);
      this.#high[row] = fingerprint.high;
      let slot = fingerprint.low & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = row + 1;
    }
  }

  #readSpends(block: Uint8Array, layout: BlockLayout, key: FingerprintKey): void {
    const { inputAt, inputCount, firstInput } = layout;
    this.#spends = 0;
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    // a coinbase spends nothing
    for (let input = firstInput[1]!; input < inputCount; input++) {
      const at = inputAt[input]!;
      fingerprintOutpoint(view, at, key);
      const row = this.#rowOf(view, at);
      // a second spend of an output is treated as a spend of an earlier block's output: it is not found there, so the
      // block is refused
      if (row >= 0 && this.#spent[row] === 0) {
        this.#spent[row] = 1;
        continue;
      }
      if (this.#spends === this.#spendAt.length) this.#spendAt = withRoom(this.#spendAt, this.#spends + 1);
      this.#spendAt[this.#spends++] = at;
    }
  }

  /**
   * Row of this block's output that the outpoint at `at` names. The outpoint's fingerprint must just have been
   * computed. -1: the output is not from this block.
   */
  #rowOf(view: DataView, at: number): number {
    const { low, high } = fingerprint;
    const mask = this.#slots.length - 1;
    for (let slot = low & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const row = this.#slots[slot]! - 1;
      if (this.#high[row] === high && this.#isAt(row, view, at)) return row;
    }
    return -1;
  }

  #isAt(row: number, view: DataView, at: number): boolean {
    if (view.getUint32(at + hashLength, true) !== this.#vout[row]) return false;
    const leaves = this.#txids;
    const from = this.#tx[row]! * hashLength;
    for (let index = 0; index < hashLength; index++) {
      if (leaves[from + index] !== view.getUint8(at + index)) return false;
    }
    return true;
  }

  #columns(transactions: number): OutputColumns {
    const outputs = this.#outputs;
    return {
      value: this.#value.subarray(0, outputs),
      tx: this.#tx.subarray(0, outputs),
      vout: this.#vout.subarray(0, outputs),
      scriptStart: this.#scriptStart.subarray(0, outputs),
      scriptLength: this.#scriptLength.subarray(0, outputs),
      spendAt: this.#spendAt.subarray(0, this.#spends),
      txid: this.#txids.subarray(0, transactions * hashLength),
      spent: this.#spent.subarray(0, outputs),
    };
  }
}
