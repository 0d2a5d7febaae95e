import { knownCompactSize } from '#indexer/transaction/compact-size.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';

const opReturn = 0x6a;

/** The outputs of one transaction at a time, in memory that is reused for each transaction of a block. */
export class TransactionOutputs {
  count = 0;
  /** The first output that is not an OP_RETURN. Null: all outputs are OP_RETURN. */
  firstSpendable: number | null = null;
  /** Offset after the last output. */
  end = 0;
  /** Ranges of the scripts in the block. */
  scriptStart = new Uint32Array(64);
  scriptLength = new Uint32Array(64);
  readonly #bytes: Uint8Array;
  readonly #walk: OutputWalk;
  /** Spendable outputs. Null: not computed yet. */
  #spendable: readonly number[] | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#walk = new OutputWalk(bytes);
  }

  /** Moves to the transaction whose output count is at `outputsAt`. */
  read(outputsAt: number): void {
    const walk = this.#walk;
    this.count = knownCompactSize(this.#bytes, outputsAt);
    if (this.count > this.scriptStart.length) {
      this.scriptStart = new Uint32Array(this.count * 2);
      this.scriptLength = new Uint32Array(this.count * 2);
    }
    this.firstSpendable = null;
    this.#spendable = null;
    walk.open(outputsAt);
    while (walk.next()) {
      this.scriptStart[walk.vout] = walk.scriptStart;
      this.scriptLength[walk.vout] = walk.scriptLength;
      if (this.firstSpendable === null && !this.isReturn(walk.vout)) this.firstSpendable = walk.vout;
    }
    this.end = walk.end();
  }

  isReturn(vout: number): boolean {
    return this.scriptLength[vout]! > 0 && this.#bytes[this.scriptStart[vout]!] === opReturn;
  }

  /** Outputs that are not an OP_RETURN, ascending. */
  spendable(): readonly number[] {
    this.#spendable ??= Array.from({ length: this.count }, (_, vout) => vout).filter(
      (vout) => !this.isReturn(vout),
    );
    return this.#spendable;
  }
}
