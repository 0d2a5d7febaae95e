import type pg from 'pg';
import { SignatureReader } from '#indexer/facts/signatures.ts';
import { outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import { etchedName } from '#indexer/ledger/runes/rune-block.ts';
import { heldOutputs } from '#indexer/mempool/store/held-outputs.queries.ts';
import type { PendingRows } from '#indexer/mempool/store/pending.store.ts';
import { indexedRunes } from '#indexer/mempool/store/rune-context.queries.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import type { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import type { Artifact } from '#indexer/runes/artifact.ts';
import { type FingerprintKey, storedFingerprint } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { InputIndex } from './input-index.ts';
import type { KeptTransaction, KeptTransactions } from './kept-transactions.ts';
import { askForInputs, inputsToAsk, type Looked, lookAt, type Runic, valueOf } from './looked-transaction.ts';
import { type ShortFingerprint, shortFingerprint, shortFingerprintOf } from './outpoint-fingerprints.ts';
import {
  artifactOf,
  committingInputsMax,
  needsSpentOutputs,
  type PendingRunes,
  type RuneContext,
  type RunicHolding,
  runesOf,
} from './pending-runes.ts';
import { pendingSalesOf } from './pending-sales.ts';
import { type HeldOutput, movesOf, type PendingMoves, storedScript } from './pending-transaction.ts';
import type { TransactionBatch } from './transaction-batch.ts';

export interface AnalysisContext {
  readonly pool: pg.Pool;
  readonly node: NodeMempool;
  readonly inputs: InputIndex;
  readonly kept: KeptTransactions;
  readonly fingerprintKey: FingerprintKey;
  /** Null: runes are not known, and nothing is told of them. */
  readonly runes: RunesToCome | null;
  /** False: the index does not tell sales, so nothing is told of pending ones. */
  readonly knowsSales: boolean;
  nextPosition(): number;
}

/** Where runes are known. */
export type RunesToCome = Omit<RuneContext, 'state' | 'fingerprintKey'>;

export interface Analysed {
  /** Transactions that matter, entered into `kept`. */
  readonly rows: readonly PendingRows[];
  /** Transactions that were kept and no longer matter. */
  readonly dropped: readonly HashKey[];
  /** Transactions of the mempool that spend outputs of these, and were processed before them. */
  readonly again: readonly HashKey[];
  /** Replaced transactions, and what replaced them. */
  readonly conflicts: ReadonlyMap<HashKey, HashKey>;
}

/**
 * Processes transactions: enters their inputs, finds what they reveal and move, and keeps those that matter. At most
 * four queries to the database and two to the node, however many transactions there are; one more to the node for each
 * that etches a name.
 *
 * @param transactions ascending indices in the batch, parents before children
 *
 * @param block the block that they are mined in, whose inputs the node no longer knows as unspent; null: they are in the
 *   mempool
 */
export async function analyse(
  context: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
  block: BlockRef | null,
): Promise<Analysed> {
  const index = await indexed(context, batch, transactions);
  const rows: PendingRows[] = [];
  const dropped: HashKey[] = [];
  const again = new Set<HashKey>();
  const conflicts = new Map<HashKey, HashKey>();
  const keep = async ({ looked, replaces }: Waiting): Promise<void> => {
    const runes = await pendingRunesOf(context, batch, looked, index.runes);
    const row = keptRow(context, batch, looked, replaces, block, runes);
    context.kept.add(row.transaction);
    rows.push(row);
    for (const { fingerprint } of [...row.transaction.made, ...(row.transaction.runes?.made ?? [])]) {
      const spender = context.inputs.spender(fingerprint);
      if (spender !== null) again.add(spender);
    }
  };
  const waiting: Waiting[] = [];
  for (const tx of transactions) {
    const txid = hashKey(batch.txid(tx));
    const fingerprints = inputFingerprints(batch, tx);
    const replaces = block === null ? context.inputs.add(txid, fingerprints) : [];
    for (const other of replaces) conflicts.set(other, txid);
    const looked = look(context, batch, { tx, txid, fingerprints }, index);
    if (looked === null) {
      if (context.kept.get(txid) !== null) dropped.push(txid);
      continue;
    }
    const asked = block === null ? inputsToAsk(batch, looked) : [];
    if (asked.length === 0) await keep({ looked, replaces, asked });
    else waiting.push({ looked, replaces, asked });
  }
  await askForInputs(context.node, batch, waiting);
  for (const one of waiting) await keep(one);
  return { rows, dropped, again: [...again], conflicts };
}

/** A transaction that matters, and the inputs about which the node is asked. */
interface Waiting {
  readonly looked: Looked;
  readonly replaces: readonly HashKey[];
  readonly asked: readonly number[];
}

/** What the index tells of the inputs of some transactions. */
interface Index {
  /** The outputs with inscriptions, by their 36 bytes. */
  readonly outputs: ReadonlyMap<string, HeldOutput>;
  readonly runes: KnownRunes | null;
  /** Of the batch. Null: sales are not known. */
  readonly signatures: SignatureReader | null;
}

async function indexed(
  context: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
): Promise<Index> {
  return {
    outputs: await indexedOutputs(context, batch, transactions),
    runes: await runesToKnow(context, batch, transactions),
    signatures: context.knowsSales ? new SignatureReader(batch.bytes, batch.columns) : null,
  };
}

/** Null: the transaction does not matter. */
function look(
  context: AnalysisContext,
  batch: TransactionBatch,
  { tx, txid, fingerprints }: TransactionNames,
  index: Index,
): Looked | null {
  const outpoints = batch.outpoints(tx);
  const held = fingerprints.map((fingerprint, input) => {
    const outpoint = outpoints.subarray(input * 36, input * 36 + 36);
    return context.kept.held(fingerprint, outpoint) ?? index.outputs.get(outpoint.toString('latin1')) ?? null;
  });
  const runic = runicOf(context, tx, fingerprints, outpoints, index.runes);
  const isMoving = held.some((output) => output !== null);
  if (batch.reveal(tx) < 0 && !isMoving && runic === null) return null;
  return lookAt(batch, { tx, txid, held, runic }, index.signatures);
}

interface TransactionNames {
  readonly tx: number;
  readonly txid: HashKey;
  /** Of its inputs. */
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

/** The indexed outputs with inscriptions that the transactions spend, by their 36 bytes. */
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

/** What the index tells of runes, and the messages of the transactions. */
interface KnownRunes {
  readonly context: RuneContext;
  readonly artifacts: ReadonlyMap<number, Artifact>;
  /** By the 36 bytes of the outpoint, as latin-1. */
  readonly held: ReadonlyMap<string, RunicHolding>;
}

async function runesToKnow(
  { pool, runes, fingerprintKey }: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
): Promise<KnownRunes | null> {
  if (runes === null) return null;
  const artifacts = new Map<number, Artifact>();
  const outpoints: Uint8Array[] = [];
  for (const tx of transactions) {
    const artifact = artifactOf(batch, tx);
    if (artifact !== null) artifacts.set(tx, artifact);
    outpoints.push(...outpointsOf(batch, tx));
  }
  const messages = [...artifacts.values()];
  const { state, held } = await indexedRunes(pool, {
    outpoints,
    ids: messages.flatMap(({ mint }) => mint ?? []),
    names: messages.flatMap((artifact) => etchedName(artifact) ?? []),
  });
  return { context: { ...runes, fingerprintKey, state }, artifacts, held };
}

/** Null: the transaction has nothing to do with runes. */
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
    replaces: [...(context.kept.get(txid)?.replaces ?? []), ...replaces],
    entry: context.kept.get(txid)?.entry ?? null,
    block,
  };
  return { transaction, moves: detached(moves), runes, sales, seenAt: Date.now() };
}

/** Size of a row of short fields. */
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

/** A copy without views of the batch, which is large and would live as long as the copy. */
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
