import { AppError } from '#kernel/errors/app-error.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type Sats, trustedSats } from '#kernel/primitives/sats.ts';
import { BlockLayout, lockTimeLength, oneTransaction, roomForOnce, versionLength } from './block-layout.ts';
import { lastBreak, readLayout } from './read-layout.ts';
import { strippedHash } from './transaction-id.ts';
import { InputWalk, OutputWalk, WitnessWalk } from './transaction-parts.ts';

/** An input; its parts are views of the bytes. Hashes are in internal order. */
export interface RawInput {
  readonly previousTxid: Txid;
  readonly previousVout: number;
  readonly scriptSig: Uint8Array;
  readonly sequence: number;
  readonly witness: readonly Uint8Array[];
}

export interface RawOutput {
  /** Value in sats. Consensus keeps it below 21,000,000 BTC; larger values are refused. */
  readonly value: Sats;
  readonly script: Uint8Array;
}

/** A decoded transaction, as pages and answers show it. */
export interface RawTransaction {
  /** A signed number, as in Bitcoin Core and rust-bitcoin. */
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly RawInput[];
  readonly outputs: readonly RawOutput[];
  readonly txid: Txid;
  /** Weight of BIP 141. */
  readonly weight: number;
  /** Its complete bytes. */
  readonly bytes: Uint8Array;
}

const hashLength = 32;
const witnessScale = 4;

/**
 * The transactions of a block, or a single transaction. Figures of each are found by offset; objects are only made for
 * transactions that are shown.
 */
export class RawTransactions {
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #layout: BlockLayout;

  private constructor(bytes: Uint8Array, layout: BlockLayout) {
    this.count = layout.transactionCount;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#layout = layout;
  }

  /** Throws `block_truncated`, `block_oversized` and `block_corrupt`. */
  static ofBlock(block: Uint8Array): RawTransactions {
    const layout = new BlockLayout(roomForOnce(block.length));
    const broken = readLayout(block, layout);
    if (broken !== null) throw new AppError(broken.code, broken.message, { at: broken.at });
    return new RawTransactions(block, layout);
  }

  /** The bytes as a single transaction. Throws as `ofBlock`. */
  static one(bytes: Uint8Array): RawTransaction {
    const layout = new BlockLayout(oneTransaction);
    const end = layout.readTransaction(bytes, 0);
    if (end === bytes.length) return new RawTransactions(bytes, layout).at(0);
    if (end >= 0) throw new AppError('block_corrupt', 'there are bytes after the transaction', { at: end });
    const { code, message, at } = lastBreak();
    throw new AppError(code, message, { at });
  }

  txid(tx: number): Txid {
    const { start, outputsEnd } = this.#layout;
    return strippedHash(this.#bytes, start[tx]!, outputsEnd[tx]!, start[tx + 1]!);
  }

  /** Size in bytes. */
  size(tx: number): number {
    const { start } = this.#layout;
    return start[tx + 1]! - start[tx]!;
  }

  /** Weight of BIP 141: four times the bytes without marker, flag and witnesses, plus these. */
  weight(tx: number): number {
    const { inputsAt, outputsEnd } = this.#layout;
    const size = this.size(tx);
    const body = outputsEnd[tx]! - inputsAt[tx]!;
    const stripped = this.#layout.hasWitness(tx) ? versionLength + body + lockTimeLength : size;
    return stripped * (witnessScale - 1) + size;
  }

  /** Sum of the outputs in sats. */
  outputValue(tx: number): Sats {
    return trustedSats(this.#layout.outputValue[tx]!);
  }

  at(tx: number): RawTransaction {
    const { start } = this.#layout;
    const view = this.#view;
    const from = start[tx]!;
    const end = start[tx + 1]!;
    return {
      version: view.getInt32(from, true),
      lockTime: view.getUint32(end - lockTimeLength, true),
      inputs: this.#inputs(tx),
      outputs: this.#outputs(tx),
      txid: this.txid(tx),
      weight: this.weight(tx),
      bytes: this.#bytes.subarray(from, end),
    };
  }

  #inputs(tx: number): RawInput[] {
    const { start, outputsEnd } = this.#layout;
    const inputs = new InputWalk(this.#bytes);
    const witnesses = new WitnessWalk(this.#bytes);
    witnesses.open(outputsEnd[tx]!);
    const hasWitness = this.#layout.hasWitness(tx);
    return Array.from({ length: inputs.open(start[tx]!) }, (_, index) => {
      const at = inputs.outpointOf(index);
      const scriptSig = inputs.scriptOf(index);
      const sequenceAt = scriptSig.byteOffset - this.#bytes.byteOffset + scriptSig.length;
      return {
        previousTxid: trustedTxid(this.#bytes.subarray(at, at + hashLength)),
        previousVout: this.#view.getUint32(at + hashLength, true),
        scriptSig,
        sequence: this.#view.getUint32(sequenceAt, true),
        witness: hasWitness ? this.#items(witnesses, index) : [],
      };
    });
  }

  #items(witnesses: WitnessWalk, index: number): Uint8Array[] {
    return Array.from({ length: witnesses.items(index) }, () => {
      witnesses.next();
      return this.#bytes.subarray(witnesses.itemStart, witnesses.itemStart + witnesses.itemLength);
    });
  }

  #outputs(tx: number): RawOutput[] {
    const walk = new OutputWalk(this.#bytes);
    walk.open(this.#layout.outputsAt[tx]!);
    const outputs: RawOutput[] = [];
    while (walk.next()) {
      if (walk.value > Number.MAX_SAFE_INTEGER)
        throw new AppError('block_corrupt', 'an output has a value that no output can have');
      const script = this.#bytes.subarray(walk.scriptStart, walk.scriptStart + walk.scriptLength);
      outputs.push({ value: trustedSats(walk.value), script });
    }
    return outputs;
  }
}
