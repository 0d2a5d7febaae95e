import { outpointLength } from './sat-outputs.ts';

const hashLength = 32;

/** The 36 bytes of outpoints as texts, of one transaction after the other: keys of maps where few are needed. */
export class OutputNames {
  readonly #outpoint = Buffer.alloc(outpointLength);

  /** The txid at `at` is that of the outputs which are named next. */
  enter(txids: Uint8Array, at: number): void {
    for (let index = 0; index < hashLength; index++) this.#outpoint[index] = txids[at + index]!;
  }

  of(vout: number): string {
    this.#outpoint.writeUInt32LE(vout, hashLength);
    return this.#outpoint.toString('latin1');
  }
}
