import type pg from 'pg';
import { SignatureReader } from '#indexer/facts/signatures.ts';
import { outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import { etchedName } from '#indexer/ledger/runes/rune-block.ts';
import { heldOutputs } from '#indexer/mempool/store/held-outputs.queries.ts';
import type { PendingRows } from '#indexer/mempool/store/pending.store.ts';
import { indexedRunes } from '#indexer/mempool/store/rune-context.queries.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import type { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import { type FingerprintKey, storedFingerprint } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import type { InputIndex } from '../pending/input-index.ts';
import type { KeptTransaction, KeptTransactions } from '../pending/kept-transactions.ts';
import {
  askForInputs,
  inputsToAsk,
  type Looked,
  lookAt,
  type Runic,
  valueOf,
} from '../pending/looked-transaction.ts';
import {
  type ShortFingerprint,
  shortFingerprint,
  shortFingerprintOf,
} from '../pending/outpoint-fingerprints.ts';
import {
  artifactOf,
  committingInputsMax,
  needsSpentOutputs,
  type PendingRunes,
  type RuneContext,
  type RunicHolding,
  runesOf,
} from '../pending/pending-runes.ts';
import { pendingSalesOf } from '../pending/pending-sales.ts';
import { type HeldOutput, movesOf, type PendingMoves, storedScript } from '../pending/pending-transaction.ts';
import type { TransactionBatch } from '../stream/transaction-batch.ts';

export interface AnalysisContext {
  readonly pool: pg.Pool;
  readonly node: NodeMempool;
  readonly inputs: InputIndex;
  readonly kept: KeptTransactions;
  readonly fingerprintKey: FingerprintKey;
  /** Null: runes are unknown, so pending runes are not shown. */
  readonly runes: RunesToCome | null;
  /** False: the index has no sales, so pending sales are not shown. */
  readonly knowsSales: boolean;
  nextPosition(): number;
}

/** Runes that the next block can mint and etch, if the index has runes. */
export type RunesToCome = Omit<RuneContext, 'state' | 'fingerprintKey'>;

export interface Analysed {
  /** Rows of the transactions that matter, which are now in `kept`. */
  readonly rows: readonly PendingRows[];
  /** Transactions that were kept but no longer matter. */
  readonly dropped: readonly HashKey[];
  /** Other transactions of the mempool that spend outputs of these transactions, and were processed before them. */
  readonly again: readonly HashKey[];
  /** Keyed by replaced transaction: the transaction that replaced it. */
  readonly conflicts: ReadonlyMap<HashKey, HashKey>;
}

/**
 * Processes transactions: enters their inputs, finds their reveals and moves, and keeps the transactions that matter.
 * Sends at most four queries to the database and three requests to the node for any number of transactions. There is
 * one more request for each transaction that etches a name, and three for each further transaction of a chain whose
 * inputs only the node knows.
 *
 * @param transactions ascending indices in the batch, parents before children
 *
 * @param block the block that mined them, because the node no longer has their inputs as unspent; null: they are in the
 * mempool
 */
export async function analyse(
  context: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
  block: BlockRef | null,
): Promise<Analysed> {
  const index = await indexed(context, batch, transactions);
  const analysis = new Analysis(context, batch, block, index);
  for (let wave = transactions; wave.length > 0; ) wave = await analysis.process(wave);
  return analysis.found;
}

/**
 * Processes transactions in waves. If the node shows that another transaction holds inscriptions, the transactions that
 * spend it are processed again in the next wave.
 */
class Analysis {
  readonly #context: AnalysisContext;
  readonly #batch: TransactionBatch;
  readonly #block: BlockRef | null;
  readonly #index: Index;
  readonly #rows = new Map<HashKey, PendingRows>();
  readonly #dropped = new Set<HashKey>();
  readonly #again = new Set<HashKey>();
  readonly #conflicts = new Map<HashKey, HashKey>();
  /** Keyed by processed transaction: its index, and the transactions that it replaces. */
  readonly #seen = new Map<HashKey, { readonly tx: number; readonly replaces: readonly HashKey[] }>();
  /** Indices of the next wave. */
  readonly #next = new Set<number>();

  constructor(context: AnalysisContext, batch: TransactionBatch, block: BlockRef | null, index: Index) {
    this.#context = context;
    this.#batch = batch;
    this.#block = block;
    this.#index = index;
  }

  get found(): Analysed {
    return {
      rows: [...this.#rows.values()],
      dropped: [...this.#dropped],
      again: [...this.#again],
      conflicts: this.#conflicts,
    };
  }

  /**
   * Returns the transactions of the next wave, ascending. Each of them spends a transaction of this wave, so the waves
   * end.
   */
  async process(wave: readonly number[]): Promise<readonly number[]> {
    const batch = this.#batch;
    const { knowsSales, node } = this.#context;
    const signatures = knowsSales ? new SignatureReader(batch.bytes, batch.columns) : null;
    const waiting: { readonly looked: Looked; readonly asked: readonly number[] }[] = [];
    for (const tx of wave) {
      const names = this.#enterInputs(tx);
      const looked = look(this.#context, batch, names, this.#index, signatures);
      if (looked === null) {
        this.#leave(names.txid);
        continue;
      }
      const asked = this.#block === null ? inputsToAsk(batch, looked) : [];
      if (asked.length === 0) await this.#keep(looked);
      else waiting.push({ looked, asked });
    }
    await askForInputs(node, batch, waiting);
    for (const { looked } of waiting) await this.#keep(looked);
    const next = [...this.#next].toSorted((a, b) => a - b);
    this.#next.clear();
    return next;
  }

  #enterInputs(tx: number): TransactionNames {
    const txid = hashKey(this.#batch.txid(tx));
    const fingerprints = inputFingerprints(this.#batch, tx);
    const replaced = this.#block === null ? this.#context.inputs.add(txid, fingerprints) : [];
    for (const other of replaced) this.#conflicts.set(other, txid);
    this.#seen.set(txid, { tx, replaces: [...(this.#seen.get(txid)?.replaces ?? []), ...replaced] });
    this.#again.delete(txid);
    return { tx, txid, fingerprints };
  }

  #leave(txid: HashKey): void {
    if (this.#context.kept.get(txid) !== null) this.#dropped.add(txid);
  }

  async #keep(looked: Looked): Promise<void> {
    const { txid } = looked;
    const { kept, inputs } = this.#context;
    const runes = await pendingRunesOf(this.#context, this.#batch, looked, this.#index.runes);
    const replaces = this.#seen.get(txid)?.replaces ?? [];
    const row = keptRow(this.#context, this.#batch, looked, replaces, this.#block, runes);
    kept.add(row.transaction);
    this.#rows.set(txid, row);
    this.#dropped.delete(txid);
    for (const { fingerprint } of [...row.transaction.made, ...(row.transaction.runes?.made ?? [])]) {
      const spender = inputs.spender(fingerprint);
      if (spender === null) continue;
      const seen = this.#seen.get(spender);
      if (seen === undefined) this.#again.add(spender);
      else this.#next.add(seen.tx);
    }
  }
}

/** The index's answers about the inputs of some transactions. */
interface Index {
  /** Outputs with inscriptions, by their 36 bytes. */
  readonly outputs: ReadonlyMap<string, HeldOutput>;
  readonly runes: KnownRunes | null;
}

async function indexed(
  context: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
): Promise<Index> {
  return {
    outputs: await indexedOutputs(context, batch, transactions),
    runes: await runesToKnow(context, batch, transactions),
  };
}

/** Rows of a transaction. Null: the transaction does not matter. */
function look(
  context: AnalysisContext,
  batch: TransactionBatch,
  { tx, txid, fingerprints }: TransactionNames,
  index: Index,
  signatures: SignatureReader | null,
): Looked | null {
  const outpoints = batch.outpoints(tx);
  const held = fingerprints.map((fingerprint, input) => {
    const outpoint = outpoints.subarray(input * 36, input * 36 + 36);
    return context.kept.held(fingerprint, outpoint) ?? index.outputs.get(outpoint.toString('latin1')) ?? null;
  });
  const runic = runicOf(context, tx, fingerprints, outpoints, index.runes);
  const isMoving = held.some((output) => output !== null);
  if (batch.reveal(tx) < 0 && !isMoving && runic === null) return null;
  return lookAt(batch, { tx, txid, held, runic }, signatures);
}

interface TransactionNames {
  readonly tx: number;
  readonly txid: HashKey;
  /** Fingerprints of its inputs. */
  readonly fingerprints: readonly ShortFingerprint[];
}

function inputFingerprints(batch: TransactionBatch, tx: number): ShortFingerprint[] {
  const { txFirstInput, inputFingerprintHigh, inputFingerprintLow } = batch.columns;
  const first = txFirstInput[tx]!;
  return Array.from({ length: batch.inputCount(tx) }, (_, input) =>
    shortFingerprint(inputFingerprintHigh[first + input]!, inputFingerprintLow[first + input]!),
  );
}

/** The 36 bytes of each outpoint that a transaction spends. */
function outpointsOf(batch: TransactionBatch, tx: number): Buffer[] {
  const outpoints = batch.outpoints(tx);
  return Array.from({ length: batch.inputCount(tx) }, (_, input) =>
    outpoints.subarray(input * 36, input * 36 + 36),
  );
}

/** The indexed outputs with inscriptions that the transactions spend, by the 36 bytes of the outpoint. */
async function indexedOutputs(
  { pool }: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
): Promise<Map<string, HeldOutput>> {
  const { txFirstInput, inputFingerprintHigh, inputFingerprintLow } = batch.columns;
  const fingerprints: string[] = [];
  for (const tx of transactions) {
    const end = txFirstInput[tx + 1]!;
    for (let input = txFirstInput[tx]!; input < end; input++) {
      fingerprints.push(storedFingerprint(inputFingerprintLow[input]!, inputFingerprintHigh[input]!));
    }
  }
  return heldOutputs(pool, fingerprints);
}

/** The index's answers about runes, and the messages of the transactions. */
interface KnownRunes {
  readonly context: RuneContext;
  readonly artifacts: ReadonlyMap<number, Artifact>;
  /** Holdings by the 36 bytes of the outpoint, as latin-1. */
  readonly held: ReadonlyMap<string, RunicHolding>;
}

async function runesToKnow(
  { pool, runes, fingerprintKey, kept }: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
): Promise<KnownRunes | null> {
  if (runes === null) return null;
  const artifacts = new Map<number, Artifact>();
  const outpoints: Uint8Array[] = [];
  const keys = new Set<number>();
  for (const tx of transactions) {
    const artifact = artifactOf(batch, tx);
    if (artifact !== null) artifacts.set(tx, artifact);
    const spent = outpointsOf(batch, tx);
    outpoints.push(...spent);
    // an earlier batch made these outputs, so the index does not have their runes
    for (const [input, fingerprint] of inputFingerprints(batch, tx).entries())
      for (const { key } of kept.heldRunes(fingerprint, spent[input]!)?.balances ?? [])
        if (key >= 0) keys.add(key);
  }
  const messages = [...artifacts.values()];
  const { state, held } = await indexedRunes(pool, {
    outpoints,
    ids: messages.flatMap(({ mint }) => mint ?? []),
    names: messages.flatMap((artifact) => etchedName(artifact) ?? []),
    keys: [...keys],
  });
  return { context: { ...runes, fingerprintKey, state }, artifacts, held };
}

/** Runes that a transaction involves. Null: none. */
function runicOf(
  { kept }: AnalysisContext,
  tx: number,
  fingerprints: readonly ShortFingerprint[],
  outpoints: Uint8Array,
  runes: KnownRunes | null,
): Runic | null {
  if (runes === null) return null;
  const held = fingerprints.map((fingerprint, input) => {
    const outpoint = outpoints.subarray(input * 36, input * 36 + 36);
    return kept.heldRunes(fingerprint, outpoint) ?? runes.held.get(outpointName(outpoint, 0)) ?? null;
  });
  const artifact = runes.artifacts.get(tx) ?? null;
  return artifact === null && held.every((holding) => holding === null) ? null : { artifact, held };
}

async function pendingRunesOf(
  { node }: AnalysisContext,
  batch: TransactionBatch,
  { tx, runic }: Looked,
  runes: KnownRunes | null,
): Promise<PendingRunes | null> {
  if (runic === null || runes === null) return null;
  const { artifact, held } = runic;
  const asksNode =
    artifact !== null && needsSpentOutputs(artifact, runes.context) && held.length <= committingInputsMax;
  const spent = asksNode ? await node.spentOutputs(outpointsOf(batch, tx)) : null;
  return runesOf(batch, tx, artifact, held, spent, runes.context);
}

function keptRow(
  context: AnalysisContext,
  batch: TransactionBatch,
  looked: Looked,
  replaces: readonly HashKey[],
  block: BlockRef | null,
  runes: PendingRunes | null,
): PendingRows {
  const { tx, txid, held, spent, signatures } = looked;
  const moves = movesOf(
    batch,
    tx,
    held.map((output, input) => ({ held: output, value: valueOf(looked, input) })),
  );
  const sales =
    signatures === null ? [] : pendingSalesOf(signatures, spent, batch.outputs(tx), moves.transfers);
  const txidBytes = batch.txid(tx);
  const transaction: KeptTransaction = {
    txid,
    position: context.kept.get(txid)?.position ?? context.nextPosition(),
    vsize: batch.vsize(tx),
    outpoints: batch.outpoints(tx),
    made: moves.made.map((output) => ({
      output,
      fingerprint: shortFingerprintOf(
        txidBytes,
        new DataView(output.outpoint.buffer, output.outpoint.byteOffset).getUint32(32, true),
        context.fingerprintKey,
      ),
    })),
    runes: runes === null ? null : { etching: runes.etching, mint: runes.mint, made: runes.made },
    sizeBytes: sizeOf(moves) + ((runes?.moves.length ?? 0) + sales.length) * rowBytes,
    replaces: [...new Set([...(context.kept.get(txid)?.replaces ?? []), ...replaces])],
    entry: context.kept.get(txid)?.entry ?? null,
    block,
  };
  return { transaction, moves: detached(moves), runes, sales, seenAt: Date.now() };
}

/** Size in bytes of a row with short fields. */
const rowBytes = 300;

/** Size of the rows, in bytes. */
function sizeOf({ inscriptions, transfers }: PendingMoves): number {
  let size = (inscriptions.length + transfers.length) * rowBytes;
  for (const { content, metadataJson, metadataFolded, ...row } of inscriptions) {
    const parts = [
      content?.body,
      content?.folded,
      metadataJson,
      metadataFolded,
      row.title,
      row.traits,
      row.gallery,
      row.claimedParents,
      row.metaprotocol,
    ];
    for (const part of parts) size += part?.length ?? 0;
  }
  return size;
}

/** A copy without views of the batch: the batch is large and would live as long as a view of it. */
function detached(moves: PendingMoves): PendingMoves {
  const placed = <Row extends PendingMoves['transfers'][number] | PendingMoves['inscriptions'][number]>(
    row: Row,
  ): Row => {
    const { output } = row.placed;
    if (output === null) return row;
    return {
      ...row,
      placed: { ...row.placed, output: { ...output, script: storedScript(output.script) } },
    };
  };
  return { ...moves, inscriptions: moves.inscriptions.map(placed), transfers: moves.transfers.map(placed) };
}
