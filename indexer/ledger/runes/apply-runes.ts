import { strict as assert } from 'node:assert';
import type { Artifact, Runestone } from '#indexer/runes/artifact.ts';
import { fingerprint, fingerprintOutpoint } from '#indexer/transaction/outpoint-fingerprint.ts';
import { strippedHash } from '#indexer/transaction/transaction-id.ts';
import { InputWalk } from '#indexer/transaction/transaction-parts.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { isReservedRune, type Rune, reservedRune, runeCommitment } from '#kernel/runes/rune.ts';
import { mintable } from '#kernel/runes/terms.ts';
import { smallU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { Allocation, addTo, sortedBalances } from './allocation.ts';
import { commitsTo } from './commitment.ts';
import { outpointLength } from './outpoint-name.ts';
import { etchedName, type RuneBlock, type RuneMessage } from './rune-block.ts';
import { entryOf, type RuneEntry } from './rune-entry.ts';
import type { Balance, HeldRunes, MadeRunes, RuneState } from './rune-state.ts';
import { TransactionOutputs } from './transaction-outputs.ts';

/** An output that got runes. */
export interface RunicOutput extends MadeRunes {
  /** Range of its script in the block. */
  readonly scriptStart: number;
  readonly scriptLength: number;
}

/** An output of an earlier block with runes that a transaction spends. */
export interface SpentRunes {
  /** Offset of its outpoint in the block. */
  readonly at: number;
  readonly held: HeldRunes;
  readonly tx: number;
  readonly fingerprintLow: number;
  readonly fingerprintHigh: number;
}

/** What a block did, in ord's order. Runes are by key; `tx` is the index of the transaction. */
export type RuneEvent =
  | { readonly kind: 'etched'; readonly txid: Txid; readonly entry: RuneEntry }
  | {
      readonly kind: 'minted';
      readonly txid: Txid;
      readonly tx: number;
      readonly key: number;
      readonly amount: U128;
      /** How often the rune was minted, with this time. */
      readonly mints: number;
    }
  | {
      readonly kind: 'transferred';
      readonly txid: Txid;
      readonly vout: number;
      readonly key: number;
      readonly amount: U128;
    }
  | {
      readonly kind: 'burned';
      readonly txid: Txid;
      readonly tx: number;
      readonly key: number;
      readonly amount: U128;
      /** What was burned of the rune, with this. */
      readonly total: U128;
    };

/** What a block adds: nothing that an earlier block wrote changes, but that its outputs are spent. */
export interface RuneChanges {
  readonly etched: RuneEntry[];
  readonly outputs: RunicOutput[];
  /** Outputs of blocks that the state has not applied itself. Its own are marked as spent. */
  readonly spent: SpentRunes[];
  readonly events: RuneEvent[];
}

/**
 * Applies a block to the runes, by the rules of ord's rune_updater.rs. Pure: it reads the block and changes the state.
 * The coinbase comes first, as in the block. Cost: one probe for each input; the rest is for transactions with a
 * runestone or with inputs that hold runes.
 */
export function applyRunes(block: RuneBlock, state: RuneState): RuneChanges {
  const pass = new RunePass(block, state);
  if (block.height >= block.network.firstRuneHeight) pass.run();
  return pass.changes;
}

const hashLength = 32;

class RunePass {
  readonly changes: RuneChanges = {
    etched: [],
    outputs: [],
    spent: [],
    events: [],
  };
  readonly #block: RuneBlock;
  readonly #state: RuneState;
  readonly #minimum: Rune;
  /** The next of the block's `inputs`. */
  #nextInput = 0;
  /** By key: what a transaction spent, minted and etched, and what it gave to outputs and burned. */
  readonly #came = new Map<number, U128>();
  readonly #went = new Map<number, U128>();
  readonly #outputs: TransactionOutputs;
  readonly #outpoint = Buffer.alloc(outpointLength);
  readonly #outpointView: DataView;

  constructor(block: RuneBlock, state: RuneState) {
    this.#block = block;
    this.#state = state;
    this.#minimum = minimumRuneAt(block.network, block.height);
    this.#outputs = new TransactionOutputs(block.bytes);
    const { buffer, byteOffset } = this.#outpoint;
    this.#outpointView = new DataView(buffer, byteOffset, outpointLength);
  }

  run(): void {
    const { columns, messages } = this.#block;
    const count = columns.txOutputs.length;
    let next = 0;
    for (let tx = 0; tx < count; tx++) {
      const message = messages[next];
      const own = message?.tx === tx ? message : null;
      if (own !== null) next++;
      const held = this.#mayHold() ? this.#heldBy(tx) : nothingHeld;
      if (own !== null || held.length > 0) this.#transaction(tx, own, held);
    }
  }

  /** Every unit that came is in an output or burned. Cost: a few steps for each balance. */
  #assertConserved(): void {
    for (const [key, amount] of this.#came)
      assert(amount === (this.#went.get(key) ?? zeroU128), `units of rune ${key} are lost or made up`);
    for (const key of this.#went.keys()) assert(this.#came.has(key), `units of rune ${key} are made up`);
  }

  /** Whether any input that is left can hold runes. */
  #mayHold(): boolean {
    return this.#nextInput < this.#block.inputs.length || this.#state.madeSize > 0;
  }

  /** The runes in the outputs that a transaction spends. They are spent from now on. */
  #heldBy(tx: number): readonly Balance[] {
    const { columns, inputs, bytes, height } = this.#block;
    const { txStart, txFirstInput, inputFingerprintLow, inputFingerprintHigh } = columns;
    const first = txFirstInput[tx]!;
    const end = txFirstInput[tx + 1]!;
    let held: Balance[] | null = null;
    let walk: InputWalk | null = null;
    for (let input = first; input < end; input++) {
      const low = inputFingerprintLow[input]!;
      const high = inputFingerprintHigh[input]!;
      const isAsked = inputs[this.#nextInput] === input;
      if (isAsked) this.#nextInput++;
      if (!isAsked && !this.#state.mayHold(low, high)) continue;
      if (walk === null) {
        walk = new InputWalk(bytes);
        walk.open(txStart[tx]!);
      }
      const at = walk.outpointOf(input - first);
      const taken = this.#state.take(bytes, at, low, high, { height, tx });
      // another outpoint with the same fingerprint
      if (taken === undefined) continue;
      const { held: output, isOwn } = taken;
      if (!isOwn)
        this.changes.spent.push({ at, held: output, tx, fingerprintLow: low, fingerprintHigh: high });
      held ??= [];
      for (const balance of output.balances) held.push(balance);
    }
    return held ?? nothingHeld;
  }

  #writeOutpoint(txid: Txid, vout: number): void {
    this.#outpoint.set(txid);
    this.#outpoint.writeUInt32LE(vout, hashLength);
  }

  #transaction(tx: number, message: RuneMessage | null, held: readonly Balance[]): void {
    const { bytes, columns } = this.#block;
    const { txStart, txOutputs } = columns;
    this.#outputs.read(txOutputs[tx]!);
    const { end } = this.#outputs;
    const artifact = message?.artifact ?? null;
    const txid = message?.txid ?? strippedHash(bytes, txStart[tx]!, end, txStart[tx + 1]!);
    this.#came.clear();
    this.#went.clear();
    for (const { key, amount } of held) addTo(this.#came, key, amount);
    const etched = artifact === null ? null : this.#bring(artifact, tx, txid, end);
    if (artifact?.kind === 'cenotaph') this.#burn(tx, txid, this.#came);
    else if (artifact === null || artifact.edicts.length === 0) this.#giveAll(tx, txid, artifact);
    else this.#allocate(tx, txid, artifact, etched);
    this.#assertConserved();
  }

  /** What the mint and the premine bring. Returns the rune that is etched. */
  #bring(artifact: Artifact, tx: number, txid: Txid, outputsEnd: number): RuneEntry | null {
    this.#mint(artifact, tx, txid);
    const etched = this.#etch(artifact, tx, txid, outputsEnd);
    if (etched !== null && artifact.kind !== 'cenotaph') addTo(this.#came, etched.key, etched.premine);
    return etched;
  }

  #mint({ mint }: Artifact, tx: number, txid: Txid): void {
    const known = mint === null ? undefined : this.#state.byId(mint);
    if (known === undefined) return;
    const { key, terms, block } = known.entry;
    const amount = mintable(terms, smallU128(block), this.#block.height, known.mints);
    if (amount === null) return;
    known.mints++;
    addTo(this.#came, key, amount);
    this.changes.events.push({ kind: 'minted', txid, tx, key, amount, mints: known.mints });
  }

  #etch(artifact: Artifact, tx: number, txid: Txid, outputsEnd: number): RuneEntry | null {
    const { height: block, timestamp } = this.#block;
    const rune = this.#etchedName(artifact, tx, outputsEnd);
    if (rune === null) return null;
    const key = this.#state.nextKey;
    const entry = entryOf({ key, block, tx, etching: txid, rune, timestamp }, artifact);
    this.#state.etch(entry);
    this.changes.etched.push(entry);
    this.changes.events.push({ kind: 'etched', txid, entry });
    return entry;
  }

  /** The name that a transaction etches; null where it etches none, or may not. */
  #etchedName(artifact: Artifact, tx: number, outputsEnd: number): Rune | null {
    const { height, bytes, columns, spentScripts, recent } = this.#block;
    if (artifact.etching === null) return null;
    const name = etchedName(artifact);
    if (name === null) return reservedRune(height, tx);
    if (name < this.#minimum || isReservedRune(name) || this.#state.isTaken(name)) return null;
    const start = columns.txStart[tx]!;
    const firstInput = columns.txFirstInput[tx]!;
    const committing = { bytes, start, outputsEnd, firstInput, spentScripts };
    return commitsTo(runeCommitment(name), committing, recent) ? name : null;
  }

  /** Without edicts all goes to one output: that of the pointer, else the first that can be spent. */
  #giveAll(tx: number, txid: Txid, artifact: Runestone | null): void {
    const output = artifact?.pointer ?? this.#outputs.firstSpendable;
    const came = sortedBalances(this.#came).filter(({ amount }) => amount !== 0);
    if (output === null || this.#outputs.isReturn(output)) this.#burnAll(tx, txid, came);
    else if (came.length > 0) this.#give(tx, txid, output, came);
  }

  /** Carries out the edicts, and gives what they left to its output. */
  #allocate(tx: number, txid: Txid, { edicts, pointer }: Runestone, etched: RuneEntry | null): void {
    const outputs = this.#outputs;
    const spendable = outputs.spendable();
    const allocation = new Allocation({ count: outputs.count, spendable }, this.#came);
    for (const edict of edicts) {
      const { block, tx: index } = edict.id;
      const key = block === 0 && index === 0 ? etched?.key : this.#state.byId(edict.id)?.entry.key;
      if (key !== undefined) allocation.edict(key, edict);
    }
    const rest = pointer ?? spendable[0];
    if (rest !== undefined) allocation.allocateRest(rest);
    const burned = withoutZeros(allocation.rest);
    for (const { output, balances } of allocation.outputs()) {
      if (outputs.isReturn(output)) for (const { key, amount } of balances) addTo(burned, key, amount);
      else this.#give(tx, txid, output, balances);
    }
    this.#burn(tx, txid, burned);
  }

  #burn(tx: number, txid: Txid, amounts: ReadonlyMap<number, U128>): void {
    this.#burnAll(tx, txid, sortedBalances(amounts));
  }

  #burnAll(tx: number, txid: Txid, balances: readonly Balance[]): void {
    for (const { key, amount } of balances) {
      addTo(this.#went, key, amount);
      const total = this.#state.burn(key, amount);
      this.changes.events.push({ kind: 'burned', txid, tx, key, amount, total });
    }
  }

  #give(tx: number, txid: Txid, vout: number, balances: readonly Balance[]): void {
    this.#writeOutpoint(txid, vout);
    fingerprintOutpoint(this.#outpointView, 0, this.#block.fingerprintKey);
    const { low, high } = fingerprint;
    const output: RunicOutput = {
      height: this.#block.height,
      tx,
      txid,
      vout,
      scriptStart: this.#outputs.scriptStart[vout]!,
      scriptLength: this.#outputs.scriptLength[vout]!,
      balances,
      fingerprintLow: low,
      fingerprintHigh: high,
      spentHeight: null,
      spentTx: null,
    };
    this.#state.learnMade(output);
    this.changes.outputs.push(output);
    for (const { key, amount } of balances) {
      addTo(this.#went, key, amount);
      this.changes.events.push({ kind: 'transferred', txid, vout, key, amount });
    }
  }
}

const nothingHeld: readonly Balance[] = [];

function withoutZeros(amounts: ReadonlyMap<number, U128>): Map<number, U128> {
  const some = new Map<number, U128>();
  for (const [key, amount] of amounts) if (amount !== 0) some.set(key, amount);
  return some;
}
