import { strict as assert } from 'node:assert';
import type { LedgerBlock, LedgerInput } from '#indexer/ledger/ledger-block.ts';
import { MadeOutputs } from '#indexer/ledger/made-outputs.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { InputWalk, OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { withRoom } from '#kernel/growable.ts';
import { curses } from '#kernel/primitives/curse.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { Floating } from './floating.ts';
import { InscriptionRows } from './inscription-rows.ts';
import { LocationRows, type OutputPlace } from './location-rows.ts';
import { MovingTxids } from './moving-txids.ts';
import { RunningTotals } from './running-totals.ts';

/** Bits of `BlockPass.traits`. */
export const traits = { reinscription: 1, unbound: 2 } as const;

/**
 * The state of one block while it is applied: input, results so far, and scratch space. The rules are in
 * apply-block.ts, collect-inputs.ts, place-inscriptions.ts and parents.ts; this class only stores and finds things.
 *
 * Sources. A floating inscription has one number. Below `heldBase` it is the index of an envelope of this block whose
 * row is not written yet. From `heldBase` on it is a row of `input.held`. From `newBase` on it is the row of an
 * inscription of this block that is already written.
 */
export class BlockPass {
  readonly input: LedgerInput;
  readonly columns: LedgerInput['columns'];
  readonly block: Uint8Array;
  readonly jubilant: boolean;
  readonly txCount: number;
  readonly envelopeCount: number;
  readonly heldBase: number;
  readonly newBase: number;

  /**
   * Inscriptions of the current transaction. `flotsam` has the inscriptions that transactions of this block spent as
   * fees.
   */
  readonly floating = new Floating();
  readonly flotsam = new Floating();

  /** Keyed by envelope: the curse of each envelope processed so far. `traits` has their traits. */
  readonly curse: Uint8Array;
  readonly traits: Uint8Array;
  readonly fee: Float64Array;
  readonly reveal: Uint32Array;
  /** Sources of those claimed parents that were in the transaction, as a range of `candidate`. */
  readonly firstCandidate: Uint32Array;
  readonly candidateCount: Uint32Array;
  candidate = new Int32Array(16);
  candidates = 0;
  /** Keyed by envelope: the row of its inscription; -1 before it is written. */
  readonly writtenRow: Int32Array;

  readonly inscriptions: InscriptionRows;
  readonly locations: LocationRows;
  readonly made = new MadeOutputs();
  readonly totals: RunningTotals;
  readonly inputWalk: InputWalk;
  readonly outputWalk: OutputWalk;
  /** The output into which inscriptions are being written. */
  readonly output: OutputPlace = {
    txid: -1,
    vout: 0,
    value: 0,
    scriptStart: 0,
    scriptLength: 0,
    fingerprintLow: 0,
    fingerprintHigh: 0,
  };

  /** Subsidy and fees so far, in sats. */
  reward = 0;
  /** Number of spent rows of `input.held`. */
  heldTaken = 0;
  /**
   * Number of old inscriptions taken from outputs. `oldPlaced` is the number of old inscriptions placed. At the end
   * both are equal.
   */
  oldTaken = 0;
  oldPlaced = 0;

  #movingTxids: MovingTxids | null = null;
  #txids = new Uint8Array(32 * 16);
  #txidCount = 0;

  constructor(input: LedgerInput, envelopeCount: number) {
    const { columns, held } = input;
    this.input = input;
    this.columns = columns;
    this.block = input.block;
    this.jubilant = input.height >= input.network.jubileeHeight;
    this.txCount = columns.txOutputs.length;
    this.envelopeCount = envelopeCount;
    this.heldBase = envelopeCount;
    this.newBase = envelopeCount + held.count;
    this.curse = new Uint8Array(envelopeCount);
    this.traits = new Uint8Array(envelopeCount);
    this.fee = new Float64Array(envelopeCount);
    this.reveal = new Uint32Array(envelopeCount);
    this.firstCandidate = new Uint32Array(envelopeCount);
    this.candidateCount = new Uint32Array(envelopeCount);
    this.writtenRow = new Int32Array(envelopeCount).fill(-1);
    this.inscriptions = new InscriptionRows(input.counters.nextKey, envelopeCount);
    this.locations = new LocationRows(envelopeCount + held.count + 8);
    this.totals = new RunningTotals(input.counters, this.jubilant);
    this.inputWalk = new InputWalk(this.block);
    this.outputWalk = new OutputWalk(this.block);
  }

  /** Whether an inscription has a key. The inscription of an envelope gets its key when its row is written. */
  hasKey(source: number): boolean {
    return source >= this.heldBase || this.writtenRow[source]! >= 0;
  }

  /** The key of an inscription. It must have one. */
  keyOf(source: number): InscriptionKey {
    if (source >= this.newBase)
      return trustedInscriptionKey(this.inscriptions.firstKey + source - this.newBase);
    if (source >= this.heldBase) return trustedInscriptionKey(this.input.held.key[source - this.heldBase]!);
    return trustedInscriptionKey(this.inscriptions.firstKey + this.writtenRow[source]!);
  }

  /** Curse of an old inscription. */
  curseOf(source: number): number {
    if (source >= this.newBase) return this.inscriptions.curse[source - this.newBase]!;
    assert(source >= this.heldBase, 'an inscription that floats already has no curse before it is decided');
    return this.input.held.curse[source - this.heldBase] ?? curses.none;
  }

  /** Index in the inscription id of an envelope: its position among the envelopes of its transaction. */
  indexOf(envelope: number): number {
    return envelope - this.columns.revealFirstEnvelope[this.reveal[envelope]!]!;
  }

  /** The 36 bytes of an inscription id as latin-1 text, for keys of maps. */
  idText(source: number): string {
    if (source >= this.heldBase && source < this.newBase) {
      const at = (source - this.heldBase) * 36;
      return latin1(this.input.held.id.subarray(at, at + 36));
    }
    const envelope = source < this.heldBase ? source : this.inscriptions.envelope[source - this.newBase]!;
    const id = new Uint8Array(36);
    id.set(this.revealTxid(this.reveal[envelope]!));
    new DataView(id.buffer).setUint32(32, this.indexOf(envelope), true);
    return latin1(id);
  }

  revealTxid(reveal: number): Txid {
    return trustedTxid(this.columns.revealTxid.subarray(reveal * 32, reveal * 32 + 32));
  }

  /**
   * The txid of a transaction. If the block was not checked, the parser only knows the txids of reveals, so other txids
   * are hashed here. Transactions are requested in the order of the block, except the coinbase, which comes last.
   */
  txidOf(tx: number): Txid {
    const { txStart, txOutputs, txTxid } = this.columns;
    if (txTxid.length > 0) return trustedTxid(txTxid.subarray(tx * 32, tx * 32 + 32));
    this.#movingTxids ??= new MovingTxids(this.block, this.columns, this.input.held);
    const known = this.#movingTxids.of(tx);
    if (known !== null) return known;
    return transactionId(this.block, txStart[tx]!, txOutputs[tx]!, txStart[tx + 1]!);
  }

  /** Adds a txid to the block's table. Returns its row. */
  addTxid(txid: Txid): number {
    const row = this.#txidCount++;
    this.#txids = withRoom(this.#txids, this.#txidCount * 32);
    this.#txids.set(txid, row * 32);
    return row;
  }

  /** Txid of the output that a location row is in. */
  txidOfRow(row: number): Txid {
    const txid = this.locations.txid[row]!;
    if (txid >= 0) return trustedTxid(this.#txids.subarray(txid * 32, txid * 32 + 32));
    const inscription = this.locations.source[row]! - this.newBase;
    return this.revealTxid(this.inscriptions.reveal[inscription]!);
  }

  finish(anchored: boolean): LedgerBlock {
    const { input, inscriptions } = this;
    const { held, columns } = input;
    const { count } = inscriptions;
    assert.equal(count, this.envelopeCount, 'every envelope becomes one inscription');
    assert.equal(this.heldTaken, held.count, 'every held inscription is taken by its input');
    assert.equal(this.oldPlaced, this.oldTaken, 'every inscription that moves has one new place');
    assert.equal(this.flotsam.count, 0, 'the coinbase takes what was spent as fees');
    const removed = held.input.subarray(0, held.count);
    return {
      height: input.height,
      inscriptions: inscriptions.finish(),
      locations: this.locations.finish(),
      left: {
        count: held.count,
        key: held.key.subarray(0, held.count),
        height: held.height.subarray(0, held.count),
        step: held.step.subarray(0, held.count),
      },
      txids: this.#txids.subarray(0, this.#txidCount * 32),
      tracked: {
        ...this.locations.tracked(),
        removeLow: Uint32Array.from(removed, (at) => columns.inputFingerprintLow[at]!),
        removeHigh: Uint32Array.from(removed, (at) => columns.inputFingerprintHigh[at]!),
      },
      counters: this.totals.after(count),
      anchored,
    };
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
