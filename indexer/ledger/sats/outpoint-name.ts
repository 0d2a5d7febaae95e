import { outpointLength } from './sat-outputs.ts';

const hashLength = 32;

/**
 * Map keys for the outputs of one transaction after another: the 36 bytes of each outpoint as text. Use it only for
 * small numbers of outputs.
 */
export class OutputNames {
  readonly #outpoint = Buffer.alloc(outpointLength);

  /** Sets the txid of the following names, from the bytes at `at`. */
  enter(txids: Uint8Array, at: number): void {
    for (let index = 0; index < hashLength; index++) this.#outpoint[index] = txids[at + index]!;
  }

  of(vout: number): string {
    this.#outpoint.writeUInt32LE(vout, hashLength);
    return this.#outpoint.toString('latin1');
  }
}
