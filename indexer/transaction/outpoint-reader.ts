import { InputWalk } from './transaction-parts.ts';

interface WalkedBlock {
  readonly bytes: Uint8Array;
  readonly columns: { readonly txFirstInput: Uint32Array; readonly txStart: Uint32Array };
}

/** Finds the offsets of inputs' outpoints in the block. Inputs must be requested in ascending order. */
export class OutpointReader {
  readonly #walk: InputWalk;
  readonly #block: WalkedBlock;
  #tx = -1;

  constructor(block: WalkedBlock) {
    this.#block = block;
    this.#walk = new InputWalk(block.bytes);
  }

  at(input: number): number {
    const { txFirstInput, txStart } = this.#block.columns;
    let tx = Math.max(this.#tx, 0);
    while (txFirstInput[tx + 1]! <= input) tx++;
    if (tx !== this.#tx) {
      this.#tx = tx;
      this.#walk.open(txStart[tx]!);
    }
    return this.#walk.outpointOf(input - txFirstInput[tx]!);
  }
}
