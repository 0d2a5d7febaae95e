import { strict as assert } from 'node:assert';
import { fingerprint, fingerprintOutpoint } from '#indexer/transaction/outpoint-fingerprint.ts';
import { strippedHash } from '#indexer/transaction/transaction-id.ts';
import { InputWalk } from '#indexer/transaction/transaction-parts.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { Allocation } from '#kernel/runes/allocation/allocation.ts';
import { RuneAmounts } from '#kernel/runes/allocation/rune-amounts.ts';
import { isReservedRune, type Rune, reservedRune, runeCommitment } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact, Runestone } from '#kernel/runes/runestone/artifact.ts';
import { mintable } from '#kernel/runes/terms.ts';
import { smallU128, type U128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { viewOf } from '../view-of.ts';
import { commitsTo } from './commitment.ts';
import { outpointLength } from './outpoint-name.ts';
import { etchedName, type RuneBlock, type RuneMessage } from './rune-block.ts';
import { RuneChanges } from './rune-changes.ts';
import { entryOf, type RuneEntry } from './rune-entry.ts';
import { type RuneOutputs } from './rune-outputs.ts';
import type { RuneState } from './rune-state.ts';
import { TransactionOutputs } from './transaction-outputs.ts';

/**
 * Applies a block to the runes by the rules of ord's rune_updater.rs. Pure: it reads the block and changes the state.
 * The coinbase comes first, as in the block. Cost: one probe per input. Only transactions with a runestone or with
 * inputs that hold runes cost more.
 */
export function applyRunes(block: RuneBlock, state: RuneState): RuneChanges {
  const pass = new RunePass(block, state);
  if (block.height >= block.network.firstRuneHeight) pass.run();
  return pass.changes;
}

const hashLength = 32;

class RunePass {
  readonly changes: RuneChanges;
  readonly #block: RuneBlock;
  readonly #view: DataView;
  readonly #state: RuneState;
  readonly #minimum: Rune;
  /** Index of the next element in the block's `inputs`. */
  #nextInput = 0;
  /** The transaction that is being applied. */
  #tx = 0;
  #message: RuneMessage | null = null;
  /** Amounts that the transaction spent, minted and premined, by key. */
  readonly #unallocated = new RuneAmounts();
  /** Amounts given to outputs or burned, by key. */
  readonly #allocated = new RuneAmounts();
  /** Amounts to burn, by key. */
  readonly #burned = new RuneAmounts();
  readonly #outputs: TransactionOutputs;
  readonly #allocation: Allocation;
  readonly #outpoint = Buffer.alloc(outpointLength);
  readonly #outpointView = viewOf(this.#outpoint);
  /** The output that `open` adds. It is reused, because an object for each output is garbage. */
  readonly #place: { height: Height; tx: number; low: number; high: number };

  constructor(block: RuneBlock, state: RuneState) {
    this.#block = block;
    this.#view = viewOf(block.bytes);
    this.#state = state;
    this.#minimum = minimumRuneAt(block.network, block.height);
    this.#outputs = new TransactionOutputs(block.bytes);
    this.#allocation = new Allocation(this.#outputs);
    this.changes = new RuneChanges(state.made, block.txids);
    this.#place = { height: block.height, tx: 0, low: 0, high: 0 };
  }

  run(): void {
    const { columns, messages } = this.#block;
    const count = columns.txOutputs.length;
    let next = 0;
    for (let tx = 0; tx < count; tx++) {
      const message = messages[next];
      const own = message?.tx === tx ? message : null;
      if (own !== null) next++;
      this.#unallocated.clear();
      const hasHeld = this.#mayHold() && this.#takeHeld(tx);
      if (own !== null || hasHeld) this.#transaction(tx, own);
    }
  }

  /**
   * Asserts that every unallocated unit is in an output or burned. Cost: a few steps for each balance. The text of a
   * failed assertion is made only if it fails, because texts of keys took longer than the comparison.
   */
  #assertConserved(): void {
    const [unallocated, allocated] = [this.#unallocated, this.#allocated];
    for (let place = 0; place < unallocated.size; place++) {
      const key = unallocated.keyAt(place);
      if (unallocated.amountAt(place) !== allocated.get(key))
        assert.fail(`units of rune ${key} are lost or made up`);
    }
    for (let place = 0; place < allocated.size; place++)
      if (!unallocated.has(allocated.keyAt(place)))
        assert.fail(`units of rune ${allocated.keyAt(place)} are made up`);
  }

  /** Whether any remaining input can hold runes. */
  #mayHold(): boolean {
    return this.#nextInput < this.#block.inputs.length || this.#state.made.size > 0;
  }

  /**
   * Takes the runes from the outputs that a transaction spends, and marks the outputs as spent. Returns whether it took
   * any runes.
   */
  #takeHeld(tx: number): boolean {
    const { columns, inputs, bytes } = this.#block;
    const { txStart, txFirstInput, inputFingerprintLow, inputFingerprintHigh } = columns;
    const { made } = this.#state;
    const first = txFirstInput[tx]!;
    const end = txFirstInput[tx + 1]!;
    let hasHeld = false;
    let walk: InputWalk | null = null;
    for (let input = first; input < end; input++) {
      const low = inputFingerprintLow[input]!;
      const high = inputFingerprintHigh[input]!;
      const isAsked = inputs[this.#nextInput] === input;
      if (isAsked) this.#nextInput++;
      if (!isAsked && !made.mayHave(low, high)) continue;
      if (walk === null) {
        walk = new InputWalk(bytes);
        walk.open(txStart[tx]!);
      }
      if (this.#spend(walk.outpointOf(input - first), low, high, tx)) hasHeld = true;
    }
    return hasHeld;
  }

  /**
   * Spends the output whose outpoint is the 36 bytes at `at`. Returns whether the output holds runes; another output
   * may have the same fingerprint.
   */
  #spend(at: number, low: number, high: number, tx: number): boolean {
    const { made, held } = this.#state;
    const own = made.find(this.#view, at, low, high);
    if (own >= 0) return this.#takeFrom(made, own, tx);
    const row = held.find(this.#view, at, low, high);
    if (row < 0 || !this.#takeFrom(held, row, tx)) return false;
    this.changes.spent.push(row);
    return true;
  }

  #takeFrom(outputs: RuneOutputs, row: number, tx: number): boolean {
    if (outputs.isSpent(row)) return false;
    outputs.spend(row, this.#block.height, tx);
    const first = outputs.firstOf(row);
    const end = first + outputs.countOf(row);
    for (let balance = first; balance < end; balance++)
      this.#unallocated.add(outputs.keyOf(balance), outputs.amountOf(balance));
    return true;
  }

  #transaction(tx: number, message: RuneMessage | null): void {
    const { bytes, columns, txids } = this.#block;
    const { txStart, txOutputs } = columns;
    this.#outputs.read(txOutputs[tx]!);
    const { end } = this.#outputs;
    this.#tx = tx;
    this.#message = message;
    if (message === null) this.#outpoint.set(strippedHash(bytes, txStart[tx]!, end, txStart[tx + 1]!));
    else copyBytes(txids, message.txidAt, hashLength, this.#outpoint, 0);
    this.#allocated.clear();
    const artifact = message?.artifact ?? null;
    const etched = artifact === null ? null : this.#mintAndEtch(artifact, end);
    if (artifact?.kind === 'cenotaph') this.#burnAll(this.#unallocated);
    else if (artifact === null || artifact.edicts.length === 0) this.#giveAll(artifact);
    else this.#allocate(artifact, etched);
    this.#assertConserved();
  }

  /** Adds the mint and the premine to the unallocated amounts. Returns the etched rune. */
  #mintAndEtch(artifact: Artifact, outputsEnd: number): RuneEntry | null {
    if (artifact.mint !== null) this.#mint(artifact.mint);
    const etched = artifact.etching === null ? null : this.#etch(artifact, outputsEnd);
    if (etched !== null && artifact.kind !== 'cenotaph') this.#unallocated.add(etched.key, etched.premine);
    return etched;
  }

  #mint(id: RuneId): void {
    const known = this.#state.byId(id);
    if (known === undefined) return;
    const { key, terms, block } = known.entry;
    const amount = mintable(terms, smallU128(block), this.#block.height, known.mints);
    if (amount === null) return;
    known.mints++;
    this.#unallocated.add(key, amount);
    this.changes.mint({ tx: this.#tx, key, amount, mints: known.mints }, this.#message?.txidAt ?? 0);
  }

  #etch(artifact: Artifact, outputsEnd: number): RuneEntry | null {
    const { height: block, timestamp } = this.#block;
    const rune = this.#etchedName(artifact, outputsEnd);
    if (rune === null) return null;
    const key = this.#state.nextKey;
    const entry = entryOf({ key, block, tx: this.#tx, etching: this.#txid(), rune, timestamp }, artifact);
    this.#state.etch(entry);
    this.changes.etch(entry);
    return entry;
  }

  /** A copy of the transaction's txid. */
  #txid(): Txid {
    return trustedTxid(Uint8Array.from(this.#outpoint.subarray(0, hashLength)));
  }

  /** The name that a transaction etches. Null: it etches no rune, or is not allowed to. */
  #etchedName(artifact: Artifact, outputsEnd: number): Rune | null {
    const { height, bytes, columns, spentScripts, recent } = this.#block;
    const tx = this.#tx;
    const name = etchedName(artifact);
    if (name === null) return reservedRune(height, tx);
    if (name < this.#minimum || isReservedRune(name) || this.#state.isTaken(name)) return null;
    const start = columns.txStart[tx]!;
    const firstInput = columns.txFirstInput[tx]!;
    const committing = { bytes, start, outputsEnd, firstInput, spentScripts };
    return commitsTo(runeCommitment(name), committing, recent) ? name : null;
  }

  /**
   * Gives all amounts to one output: the output of the pointer, else the first spendable output. Used for transactions
   * without edicts.
   */
  #giveAll(artifact: Runestone | null): void {
    const unallocated = this.#unallocated;
    const output = artifact?.pointer ?? this.#outputs.firstSpendable;
    if (output === null || this.#outputs.isReturn(output)) {
      this.#burnAll(withoutZeros(unallocated, this.#burned));
      return;
    }
    let isOpen = false;
    for (const place of unallocated.sorted()) {
      const amount = unallocated.amountAt(place);
      if (amount === 0) continue;
      if (!isOpen) this.#open(output);
      isOpen = true;
      this.#give(unallocated.keyAt(place), amount);
    }
    if (isOpen) this.changes.transfer();
  }

  /** Carries out the edicts, then gives the remaining amounts to the default output. */
  #allocate({ edicts, pointer }: Runestone, etched: RuneEntry | null): void {
    const allocation = this.#allocation;
    allocation.begin(this.#unallocated);
    for (const edict of edicts) {
      const { block, tx: index } = edict.id;
      const key = block === 0 && index === 0 ? etched?.key : this.#state.byId(edict.id)?.entry.key;
      if (key !== undefined) allocation.edict(key, edict);
    }
    const rest = pointer ?? this.#outputs.firstSpendable;
    if (rest !== null) allocation.allocateRemaining(rest);
    allocation.end();
    this.#burnAll(this.#giveAllocated(withoutZeros(allocation.unallocated, this.#burned)));
  }

  /** Gives outputs their allocated amounts. Returns the amounts to burn, including those of OP_RETURN outputs. */
  #giveAllocated(burned: RuneAmounts): RuneAmounts {
    const allocation = this.#allocation;
    for (let place = 0; place < allocation.size; ) {
      const output = allocation.outputAt(place);
      const isReturn = this.#outputs.isReturn(output);
      if (!isReturn) this.#open(output);
      for (; place < allocation.size && allocation.outputAt(place) === output; place++) {
        const [key, amount] = [allocation.keyAt(place), allocation.amountAt(place)];
        if (isReturn) burned.add(key, amount);
        else this.#give(key, amount);
      }
      if (!isReturn) this.changes.transfer();
    }
    return burned;
  }

  #burnAll(amounts: RuneAmounts): void {
    if (amounts.size === 0) return;
    const txid = this.#txid();
    for (const place of amounts.sorted()) {
      const [key, amount] = [amounts.keyAt(place), amounts.amountAt(place)];
      this.#allocated.add(key, amount);
      const total = this.#state.burn(key, amount);
      this.changes.burn({ txid, tx: this.#tx, key, amount, total });
    }
  }

  /** Adds an output that gets balances. */
  #open(vout: number): void {
    const { made } = this.#state;
    this.#outpointView.setUint32(hashLength, vout, true);
    fingerprintOutpoint(this.#outpointView, 0, this.#block.fingerprintKey);
    const place = this.#place;
    place.tx = this.#tx;
    place.low = fingerprint.low;
    place.high = fingerprint.high;
    const row = made.add(this.#outpointView, 0, place);
    made.setScript(row, this.#outputs.scriptStart[vout]!, this.#outputs.scriptLength[vout]!);
  }

  /** Gives a balance to the output that was added last. */
  #give(key: number, amount: U128): void {
    this.#state.made.give(key, amount);
    this.#allocated.add(key, amount);
  }
}

/** Replaces the contents of `into` with those amounts that are not 0. */
function withoutZeros(amounts: RuneAmounts, into: RuneAmounts): RuneAmounts {
  into.clear();
  for (let place = 0; place < amounts.size; place++)
    if (amounts.amountAt(place) !== 0) into.add(amounts.keyAt(place), amounts.amountAt(place));
  return into;
}
