import { ownerScript } from '#indexer/derived/runes/rune-encoding.ts';
import type { SpentScripts } from '#indexer/facts/spent-scripts.ts';
import { applyRunes } from '#indexer/ledger/runes/apply-runes.ts';
import { commitsTo } from '#indexer/ledger/runes/commitment.ts';
import { outpointLength } from '#indexer/ledger/runes/outpoint-name.ts';
import { etchedName } from '#indexer/ledger/runes/rune-block.ts';
import type { RuneChanges, RuneEvent } from '#indexer/ledger/runes/rune-changes.ts';
import { type RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { type Balance, type KnownRune, RuneState } from '#indexer/ledger/runes/rune-state.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import { knownCompactSize } from '#indexer/transaction/compact-size.ts';
import type { FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { type Height, trustedHeight } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isReservedRune, maturityBlocks, type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { mintable } from '#kernel/runes/terms.ts';
import { smallU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { unreachable } from '#kernel/unreachable.ts';
import type { SpentOutput, TransactionBatch } from '../stream/transaction-batch.ts';
import { type ShortFingerprint, shortFingerprint } from './outpoint-fingerprints.ts';

/*
 * Effects of a pending transaction on runes, if it is mined in the next block. The ledger of blocks applies it as the
 * only transaction of a block, to the indexed state and the outputs of its pending parents. The result is not certain:
 * a mint may come too late, and another transaction may take a name first.
 */

/** Key of a rune. It is negative for a rune that a pending transaction etches. */
type RuneKey = number;

/** An output that holds runes, with its owner. */
export interface RunicHolding {
  /** Outpoint of 36 bytes: txid, then index in little endian. */
  readonly outpoint: Uint8Array;
  /** Script as in chain.rune_balances. */
  readonly script: Uint8Array;
  readonly balances: readonly Balance[];
  /** Height and transaction index of an indexed output. Null: the output is pending. */
  readonly place: { readonly height: number; readonly tx: number } | null;
}

/** Like `RunicHolding`, for an output of a pending transaction. */
export interface MadeHolding extends RunicHolding {
  readonly fingerprint: ShortFingerprint;
}

/**
 * State of an etching: why it makes a rune or not. `unknown`: the node does not know the outputs that the etching
 * spends.
 */
export type EtchingState = 'open' | 'taken' | 'locked' | 'reserved' | 'uncommitted' | 'immature' | 'unknown';

export interface PendingEtching {
  /** Null: the block and the position in it decide the name. */
  readonly rune: Rune | null;
  readonly spacers: number;
  readonly divisibility: number;
  /** A code point. Null: no symbol. */
  readonly symbol: number | null;
  readonly premine: U128;
  readonly state: EtchingState;
  /**
   * The lowest block in which the commitment is old enough. Null: the commitment is not in a block, or none is needed.
   */
  readonly matureHeight: number | null;
}

/** An amount of runes that is received or sent. */
export interface RuneMove {
  readonly step: 'minted' | 'given' | 'burned' | 'taken';
  readonly key: RuneKey;
  /** The etching of a pending rune. Null: the rune is indexed. */
  readonly etchedBy: Txid | null;
  readonly amount: U128;
  /** Index of the output that gets the units. */
  readonly vout: number;
  /** Script of that output. Null: there is no output. */
  readonly script: Uint8Array | null;
  /** The output from which the units are taken. Null: there is no such output. */
  readonly from: RunicHolding | null;
}

/** Effects of a pending transaction on runes. */
export interface PendingRunes {
  readonly moves: readonly RuneMove[];
  readonly etching: PendingEtching | null;
  /** The rune that the transaction tries to mint. `isOpen`: the next block may mint it. */
  readonly mint: { readonly id: RuneId; readonly isOpen: boolean } | null;
  /** Outputs that will hold runes; a later transaction may spend them. */
  readonly made: readonly MadeHolding[];
}

/** The indexed runes that some transactions involve. */
export interface RuneContext {
  readonly network: NetworkParameters;
  readonly fingerprintKey: FingerprintKey;
  /** Height of the next block. */
  readonly height: Height;
  /** Runes, and names that are already taken. */
  readonly state: RuneState;
  /** Returns the key of an etching's rune, below 0. `etchingOf` returns the etching of such a key. */
  readonly keyOf: (etching: Txid) => RuneKey;
  readonly etchingOf: (key: RuneKey) => Txid | null;
}

/** Maximum number of inputs of an etching that are examined, because each input costs a request to the node. */
export const committingInputsMax = 50;
const opReturn = 0x6a;
const op13 = 0x5d;
const hashLength = 32;
/** Exceeds the height of any rune's id, so that ids of pending etchings differ from all others. */
const noHeight = 2 ** 31;

/** The runestone or cenotaph of a transaction. Null: it has none. */
export function artifactOf({ bytes, columns }: TransactionBatch, tx: number): Artifact | null {
  const outputsAt = columns.txOutputs[tx]!;
  const walk = new OutputWalk(bytes);
  walk.open(outputsAt);
  while (walk.next()) {
    const { scriptStart: start, scriptLength: length } = walk;
    if (length > 1 && bytes[start] === opReturn && bytes[start + 1] === op13)
      return decipher(bytes, start, start + length, knownCompactSize(bytes, outputsAt));
  }
  return null;
}

/** Whether the inputs of a transaction must be requested from the node, because it etches a name that may be free. */
export function needsSpentOutputs(artifact: Artifact, context: RuneContext): boolean {
  const name = etchedName(artifact);
  return name !== null && refusedName(name, context) === null;
}

/**
 * Applies a transaction to the runes in its inputs. Pure.
 *
 * @param held holdings by input; null: the input has no runes
 * @param spent spent outputs by input; null: the node was not asked
 */
export function runesOf(
  batch: TransactionBatch,
  tx: number,
  artifact: Artifact | null,
  held: readonly (RunicHolding | null)[],
  spent: readonly (SpentOutput | null)[] | null,
  context: RuneContext,
): PendingRunes {
  const { bytes, columns } = batch;
  const txid = batch.txid(tx);
  const first = columns.txFirstInput[tx]!;
  const end = columns.txFirstInput[tx + 1]!;
  const committing = spent === null ? null : spentScriptsOf(spent);
  const young = spent === null ? [] : youngOutpoints(batch, tx, spent);
  // without an etching no key is assigned
  const etchedKey = artifact === null || artifact.etching === null ? 0 : context.keyOf(txid);
  const { network, height, fingerprintKey } = context;
  const fingerprints = {
    inputFingerprintLow: columns.inputFingerprintLow.subarray(first, end),
    inputFingerprintHigh: columns.inputFingerprintHigh.subarray(first, end),
  };
  const state = stateFor(artifact, held, fingerprints, etchedKey, context);
  const changes = applyRunes(
    {
      height,
      timestamp: 0,
      network,
      bytes,
      columns: {
        txStart: columns.txStart.slice(tx, tx + 2),
        txOutputs: columns.txOutputs.slice(tx, tx + 1),
        txFirstInput: Uint32Array.of(0, end - first),
        ...fingerprints,
      },
      messages: artifact === null ? [] : [{ tx: 0, artifact, txidAt: 0 }],
      txids: txid,
      spentScripts: committing,
      fingerprintKey,
      inputs: held.flatMap((holding, input) => (holding === null ? [] : input)),
      recent: { has: (from, at) => young.includes(txidName(from, at)) },
    },
    state,
  );
  const artifactMint = artifact?.mint ?? null;
  const made = Array.from({ length: state.made.size }, (_, row) => madeHolding(state.made, row, bytes));
  return {
    moves: movesOf(changes, held, made).map((move) => ({ ...move, etchedBy: context.etchingOf(move.key) })),
    etching: artifact === null ? null : etchingOf(batch, tx, artifact, changes, spent, context),
    mint:
      artifactMint === null
        ? null
        : { id: artifactMint, isOpen: isMintOpen(context.state.byId(artifactMint), height) },
    made,
  };
}

/** An output that the transaction makes. */
function madeHolding(outputs: RuneOutputs, row: number, bytes: Uint8Array): MadeHolding {
  const first = outputs.firstOf(row);
  return {
    outpoint: outpointOf(outputs.txidOf(row), outputs.voutOf(row)),
    script: ownerScript(bytes, outputs.scriptStartOf(row), outputs.scriptLengthOf(row)),
    balances: Array.from({ length: outputs.countOf(row) }, (_, at) => ({
      key: outputs.keyOf(first + at),
      amount: outputs.amountOf(first + at),
    })),
    place: null,
    fingerprint: shortFingerprint(outputs.highOf(row), outputs.lowOf(row)),
  };
}

/** Whether a block may mint a rune. */
export function isMintOpen(known: KnownRune | undefined, height: Height): boolean {
  if (known === undefined) return false;
  const { terms, block } = known.entry;
  return mintable(terms, smallU128(block), height, known.mints) !== null;
}

/** The ledger needs a position at which an output was made. All pending outputs get this one. */
const nowhere = { height: 0, tx: 0 };

/** Fingerprints of the inputs of a transaction. */
interface InputFingerprints {
  readonly inputFingerprintLow: Uint32Array;
  readonly inputFingerprintHigh: Uint32Array;
}

/** The state that a transaction needs. It has no effects of other transactions of the mempool. */
function stateFor(
  artifact: Artifact | null,
  held: readonly (RunicHolding | null)[],
  { inputFingerprintLow, inputFingerprintHigh }: InputFingerprints,
  etchedKey: RuneKey,
  { state: indexed }: RuneContext,
): RuneState {
  const state = new RuneState(etchedKey);
  const learn = (known: KnownRune | undefined): boolean => {
    if (known !== undefined) state.learnRune(known.entry, known.mints, known.burned);
    return known !== undefined;
  };
  for (const [input, holding] of held.entries()) {
    if (holding === null) continue;
    const { outpoint, balances, place } = holding;
    const low = inputFingerprintLow[input]!;
    const high = inputFingerprintHigh[input]!;
    state.held.add(viewOf(outpoint), 0, { ...(place ?? nowhere), low, high });
    for (const { key, amount } of balances) {
      state.held.give(key, amount);
      // if the etching was taken back meanwhile, the rune is no longer indexed and has no id
      if (key < 0 || !learn(indexed.find(key)))
        state.learnRune({
          key,
          block: trustedHeight(noHeight + Math.abs(key)),
          tx: key < 0 ? 0 : 1,
          terms: null,
        });
    }
  }
  if (artifact === null) return state;
  if (artifact.mint !== null) learn(indexed.byId(artifact.mint));
  const name = etchedName(artifact);
  if (name !== null && indexed.isTaken(name)) state.learnTaken(name);
  return state;
}

/** Why a name cannot be etched, even with a commitment. Null: it can. */
function refusedName(name: Rune, { state, network, height }: RuneContext): EtchingState | null {
  if (isReservedRune(name)) return 'reserved';
  if (state.isTaken(name)) return 'taken';
  return name < minimumRuneAt(network, height) ? 'locked' : null;
}

function etchingOf(
  batch: TransactionBatch,
  tx: number,
  artifact: Artifact,
  { etched: [entry] }: RuneChanges,
  spent: readonly (SpentOutput | null)[] | null,
  context: RuneContext,
): PendingEtching | null {
  if (artifact.etching === null) return null;
  const rune = etchedName(artifact);
  const shown = { rune, ...shownEtching(artifact) };
  const refused = rune === null ? null : refusedName(rune, context);
  if (rune === null || refused !== null) return { ...shown, state: refused ?? 'open', matureHeight: null };
  const matureHeight = spent === null ? null : maturityOf(batch, tx, rune, spent, context);
  if (entry !== undefined) return { ...shown, state: 'open', matureHeight };
  if (spent === null || spent.includes(null)) return { ...shown, state: 'unknown', matureHeight };
  const state = isCommitted(batch, tx, rune, spent) ? 'immature' : 'uncommitted';
  return { ...shown, state, matureHeight };
}

/** The etching as requested. If the artifact is a cenotaph, the rune only has a name. */
function shownEtching(
  artifact: Artifact,
): Pick<PendingEtching, 'spacers' | 'divisibility' | 'symbol' | 'premine'> {
  const asked = artifact.kind === 'cenotaph' ? null : artifact.etching;
  if (asked === null) return { spacers: 0, divisibility: 0, symbol: null, premine: zeroU128 };
  const { spacers, divisibility, symbol, premine } = asked;
  return { spacers: spacers ?? 0, divisibility: divisibility ?? 0, symbol, premine: premine ?? zeroU128 };
}

/** Whether an input commits to a name, however old the commitment is. */
function isCommitted(
  batch: TransactionBatch,
  tx: number,
  rune: Rune,
  spent: readonly (SpentOutput | null)[],
): boolean {
  const { bytes, columns } = batch;
  const walk = new OutputWalk(bytes);
  walk.open(columns.txOutputs[tx]!);
  const outputsEnd = walk.end();
  const transaction = {
    bytes,
    start: columns.txStart[tx]!,
    outputsEnd,
    firstInput: 0,
    spentScripts: spentScriptsOf(spent),
  };
  return commitsTo(runeCommitment(rune), transaction, { has: () => false });
}

/** The lowest block in which one of its commitments is old enough. */
function maturityOf(
  batch: TransactionBatch,
  tx: number,
  rune: Rune,
  spent: readonly (SpentOutput | null)[],
  { height }: RuneContext,
): number | null {
  const heights = spent.flatMap((output, input) => {
    if (output === null || output.confirmations === 0) return [];
    const alone = spent.map((each, at) => (at === input ? each : null));
    return isCommitted(batch, tx, rune, alone) ? height - output.confirmations + maturityBlocks : [];
  });
  return heights.length === 0 ? null : Math.min(...heights);
}

const noScript = { script: new Uint8Array(0) };

/** Spent scripts in the form of a block that has only this transaction. */
function spentScriptsOf(spent: readonly (SpentOutput | null)[]): SpentScripts {
  const scripts = spent.map((output) => (output ?? noScript).script);
  const scriptStart = new Uint32Array(scripts.length);
  const scriptLength = new Uint32Array(scripts.length);
  let at = 0;
  for (const [input, script] of scripts.entries()) {
    scriptStart[input] = at;
    scriptLength[input] = script.length;
    at += script.length;
  }
  const bytes = new Uint8Array(Buffer.concat(scripts));
  return { bytes, scriptStart, scriptLength, value: new Float64Array(scripts.length) };
}

/** Txids of the outputs that are too young for a commitment. */
function youngOutpoints(
  batch: TransactionBatch,
  tx: number,
  spent: readonly (SpentOutput | null)[],
): string[] {
  const outpoints = batch.outpoints(tx);
  return spent.flatMap((output, input) =>
    output === null || output.confirmations >= maturityBlocks
      ? []
      : txidName(outpoints, input * outpointLength),
  );
}

const txidName = (bytes: Uint8Array, at: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + at, hashLength).toString('latin1');

function outpointOf(txid: Txid, vout: number): Buffer {
  const outpoint = Buffer.alloc(outpointLength);
  outpoint.set(txid);
  outpoint.writeUInt32LE(vout, hashLength);
  return outpoint;
}

function movesOf(
  changes: RuneChanges,
  held: readonly (RunicHolding | null)[],
  made: readonly MadeHolding[],
): Omit<RuneMove, 'etchedBy'>[] {
  const scripts = new Map(made.map(({ outpoint, script }) => [voutOf(outpoint), script]));
  const taken = held.flatMap((from) =>
    (from?.balances ?? []).map(({ key, amount }): Omit<RuneMove, 'etchedBy'> => {
      return { step: 'taken', key, amount, vout: 0, script: null, from };
    }),
  );
  return [...taken, ...changes.events().flatMap((event) => moveOf(event, scripts) ?? [])];
}

const voutOf = (outpoint: Uint8Array): number => viewOf(outpoint).getUint32(hashLength, true);

function moveOf(
  event: RuneEvent,
  scripts: ReadonlyMap<number, Uint8Array>,
): Omit<RuneMove, 'etchedBy'> | null {
  switch (event.kind) {
    case 'minted':
      return { step: 'minted', key: event.key, amount: event.amount, vout: 0, script: null, from: null };
    case 'transferred': {
      const { key, amount, vout } = event;
      return { step: 'given', key, amount, vout, script: scripts.get(vout) ?? null, from: null };
    }
    case 'burned':
      return { step: 'burned', key: event.key, amount: event.amount, vout: 0, script: null, from: null };
    case 'etched':
      return null;
    default:
      return unreachable(event);
  }
}
