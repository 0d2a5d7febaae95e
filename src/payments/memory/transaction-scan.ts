import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { type BrokenBlock, lastBreak, readLayout } from '#indexer/transaction/read-layout.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { InputWalk, OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { type Sats, trustedSats } from '#kernel/primitives/sats.ts';
import type { ScriptSet } from './script-set.ts';
import type { UnconfirmedPayments } from './unconfirmed-payments.ts';
import { wordAt } from './word-at.ts';

export interface FoundOutput {
  readonly vout: number;
  /** Value in sats. */
  readonly value: Sats;
  readonly script: Buffer;
}

/** A transaction that is relevant for payments. */
export interface FoundTransaction {
  readonly txid: HashKey;
  /** The outputs whose scripts are probably watched. */
  readonly outputs: readonly FoundOutput[];
  /** The outpoints that the transaction spends, 36 bytes each. */
  readonly outpoints: Buffer;
  /** Unconfirmed transactions with payments that become invalid if this transaction is mined. */
  readonly conflicts: readonly HashKey[];
}

/** Finds the transactions that are relevant for payments. Reads each input and output once. */
export class TransactionScan {
  readonly #scripts: ScriptSet;
  readonly #unconfirmed: UnconfirmedPayments;
  readonly #layout = new BlockLayout();

  constructor(scripts: ScriptSet, unconfirmed: UnconfirmedPayments) {
    this.#scripts = scripts;
    this.#unconfirmed = unconfirmed;
  }

  /**
   * The relevant transactions of a raw block, in the order of the block. Returns the reason if the bytes are not a
   * block.
   */
  block(bytes: Uint8Array): FoundTransaction[] | BrokenBlock {
    const broken = readLayout(bytes, this.#layout);
    if (broken !== null) return broken;
    const reader = new TransactionReader(bytes);
    const found: FoundTransaction[] = [];
    for (let tx = 0; tx < this.#layout.transactionCount; tx++) {
      const one = this.#look(tx, reader, null);
      // a coinbase spends no outpoint, so it cannot conflict with another coinbase
      if (one !== null) found.push(tx === 0 ? { ...one, outpoints: Buffer.alloc(0) } : one);
    }
    return found;
  }

  /**
   * Scans one transaction, and adds the short fingerprints of its outputs to `outputs`. Returns null if the transaction
   * is not relevant. Returns the reason if the bytes are not a transaction.
   */
  transaction(bytes: Uint8Array, outputs: number[]): FoundTransaction | BrokenBlock | null {
    if (this.#layout.readTransaction(bytes, 0) < 0) return lastBreak();
    return this.#look(0, new TransactionReader(bytes), outputs);
  }

  #look(tx: number, reader: TransactionReader, fingerprints: number[] | null): FoundTransaction | null {
    const { bytes, inputs } = reader;
    const { start, outputsAt } = this.#layout;
    const startAt = wordAt(start, tx);
    const paysAt = wordAt(outputsAt, tx);
    const paid = this.#paid(paysAt, reader, fingerprints);
    const touched = this.#unconfirmed.size === 0 ? null : this.#touched(startAt, reader);
    if (paid === null && touched === null) return null;
    const txid = hashKey(transactionId(bytes, startAt, paysAt, wordAt(start, tx + 1)));
    const conflicts = (touched ?? []).filter(([, spender]) => spender !== txid).map(([payment]) => payment);
    if (paid === null && conflicts.length === 0) return null;
    const outpoints = spentBy(inputs, bytes, startAt);
    return { txid, outputs: paid ?? [], outpoints, conflicts: [...new Set(conflicts)] };
  }

  /** Outputs whose scripts are probably watched. Returns null if there are no such outputs. */
  #paid(
    outputsAt: number,
    { bytes, view, outputs }: TransactionReader,
    fingerprints: number[] | null,
  ): FoundOutput[] | null {
    let paid: FoundOutput[] | null = null;
    outputs.open(outputsAt);
    while (outputs.next()) {
      const { scriptStart, scriptLength } = outputs;
      if (fingerprints !== null) {
        const short = this.#scripts.shortFingerprint(view, scriptStart, scriptLength);
        if (short >= 0) fingerprints.push(short);
      }
      if (!this.#scripts.has(view, scriptStart, scriptLength)) continue;
      const script = Buffer.from(bytes.subarray(scriptStart, scriptStart + scriptLength));
      paid ??= [];
      paid.push({ vout: outputs.vout, value: trustedSats(outputs.value), script });
    }
    return paid;
  }

  /**
   * Unconfirmed payments that depend on an outpoint that the scanned transaction spends. Each payment is paired with
   * the only transaction that can spend that outpoint without replacing the payment.
   */
  #touched(start: number, { view, inputs }: TransactionReader): [HashKey, HashKey][] | null {
    let touched: [HashKey, HashKey][] | null = null;
    const count = inputs.open(start);
    for (let input = 0; input < count; input++) {
      const spenders = this.#unconfirmed.spendersOf(view, inputs.outpointOf(input));
      if (spenders === null) continue;
      touched ??= [];
      touched.push(...spenders);
    }
    return touched;
  }
}

/** Readers for one byte array. */
class TransactionReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly inputs: InputWalk;
  readonly outputs: OutputWalk;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.inputs = new InputWalk(bytes);
    this.outputs = new OutputWalk(bytes);
  }
}

/** The outpoints that a transaction spends, 36 bytes each. */
export function outpointsOf(transaction: Uint8Array): Buffer {
  const inputs = new InputWalk(transaction);
  return spentBy(inputs, transaction, 0);
}

function spentBy(inputs: InputWalk, bytes: Uint8Array, start: number): Buffer {
  const count = inputs.open(start);
  const all = Buffer.alloc(count * 36);
  for (let input = 0; input < count; input++) {
    const at = inputs.outpointOf(input);
    all.set(bytes.subarray(at, at + 36), input * 36);
  }
  return all;
}
