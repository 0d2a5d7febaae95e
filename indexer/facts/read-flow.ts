import type { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { type FingerprintKey, lowOfOutput, lowOfTxid } from '#indexer/transaction/outpoint-fingerprint.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { withRoom } from '#kernel/growable.ts';
import { encodeFlowColumns } from './flow-columns.ts';

const hashLength = 32;

/**
 * Reads which output each input of a block spends, from its layout and the txids of its transactions. Reusable: it
 * keeps the memory of the largest block. Cost: one step per output, and one probe per transaction and input.
 */
export class FlowReader {
  #value = new Float64Array(4096);
  #fingerprint = new Int32Array(4096);
  #txFirstOutput = new Uint32Array(4096);
  #source = new Int32Array(4096);
  /** Index of a transaction plus one, by its txid; 0 in a free slot. Open addressing, at most half full. */
  #slots = new Int32Array(8192);
  /** For each transaction: the part of fingerprints that comes from its txid. */
  #ofTxid = new Int32Array(4096);

  /**
   * Reads a block. Returns encoded FlowColumns.
   *
   * @param txids txids of all transactions, 32 bytes each
   */
  read(
    block: Uint8Array,
    layout: BlockLayout,
    txids: Uint8Array<ArrayBuffer>,
    key: FingerprintKey,
  ): ArrayBuffer {
    const { transactionCount, inputCount } = layout;
    const outputs = this.#readOutputs(block, layout);
    this.#readFingerprints(txids, transactionCount, key);
    this.#fillSlots(transactionCount);
    this.#readSources(block, layout, txids, key);
    return encodeFlowColumns({
      value: this.#value.subarray(0, outputs),
      fingerprint: this.#fingerprint.subarray(0, outputs),
      txFirstOutput: this.#txFirstOutput.subarray(0, transactionCount + 1),
      source: this.#source.subarray(0, inputCount),
      outpointAt: layout.inputAt.subarray(0, inputCount),
      txid: txids.subarray(0, transactionCount * hashLength),
    });
  }

  #readOutputs(block: Uint8Array, { transactionCount, outputsAt }: BlockLayout): number {
    const walk = new OutputWalk(block);
    let outputs = 0;
    this.#txFirstOutput = withRoom(this.#txFirstOutput, transactionCount + 1);
    for (let tx = 0; tx < transactionCount; tx++) {
      this.#txFirstOutput[tx] = outputs;
      walk.open(outputsAt[tx]!);
      while (walk.next()) {
        if (outputs === this.#value.length) this.#value = withRoom(this.#value, outputs + 1);
        this.#value[outputs++] = walk.value;
      }
    }
    this.#txFirstOutput[transactionCount] = outputs;
    return outputs;
  }

  #readFingerprints(txids: Uint8Array, count: number, key: FingerprintKey): void {
    this.#ofTxid = withRoom(this.#ofTxid, count);
    this.#fingerprint = withRoom(this.#fingerprint, this.#txFirstOutput[count]!);
    const view = new DataView(txids.buffer, txids.byteOffset, txids.byteLength);
    for (let tx = 0; tx < count; tx++) {
      const ofTxid = lowOfTxid(view, tx * hashLength, key);
      this.#ofTxid[tx] = ofTxid;
      const first = this.#txFirstOutput[tx]!;
      for (let row = first; row < this.#txFirstOutput[tx + 1]!; row++)
        this.#fingerprint[row] = lowOfOutput(ofTxid, row - first, key);
    }
  }

  /**
   * Fills the slots of txids. Slots are keyed, so no one can craft a block that puts its transactions into one slot.
   */
  #fillSlots(count: number): void {
    let size = 8192;
    while (size < count * 2) size *= 2;
    if (size > this.#slots.length) this.#slots = new Int32Array(size);
    else this.#slots.fill(0);
    const mask = this.#slots.length - 1;
    for (let tx = 0; tx < count; tx++) {
      let slot = slotHash(this.#ofTxid[tx]!) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = tx + 1;
    }
  }

  #readSources(
    block: Uint8Array,
    layout: BlockLayout,
    txids: Uint8Array<ArrayBuffer>,
    key: FingerprintKey,
  ): void {
    const { inputAt, inputCount, firstInput, transactionCount } = layout;
    this.#source = withRoom(this.#source, inputCount);
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    // a coinbase spends nothing
    this.#source.fill(-1, 0, firstInput[1] ?? 0);
    for (let spender = 1; spender < transactionCount; spender++) {
      for (let input = firstInput[spender]!; input < firstInput[spender + 1]!; input++) {
        const at = inputAt[input]!;
        const tx = this.#transactionOf(block, at, txids, slotHash(lowOfTxid(view, at, key)));
        this.#source[input] = this.#rowOf(tx, view.getUint32(at + hashLength, true), spender);
      }
    }
  }

  /** Index of this block's transaction whose txid is at `at`. -1: the block has no such transaction. */
  #transactionOf(block: Uint8Array, at: number, txids: Uint8Array, first: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = first & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const tx = this.#slots[slot]! - 1;
      const from = tx * hashLength;
      let same = 0;
      while (same < hashLength && txids[from + same] === block[at + same]) same++;
      if (same === hashLength) return tx;
    }
    return -1;
  }

  /**
   * Row of an output of this block. -1: the output is not from this block. An output must come before its spend, so
   * outputs of later transactions are ignored. A block cannot spend outputs of its own coinbase: the input then means
   * an earlier coinbase with the same txid (BIP 30).
   */
  #rowOf(tx: number, vout: number, spender: number): number {
    if (tx <= 0 || tx >= spender) return -1;
    const row = this.#txFirstOutput[tx]! + vout;
    return row < this.#txFirstOutput[tx + 1]! ? row : -1;
  }
}

/** Slot of a txid. It mixes in the upper bits, which are more random. */
function slotHash(ofTxid: number): number {
  return ofTxid ^ (ofTxid >>> 15);
}
