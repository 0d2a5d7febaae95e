import type pg from 'pg';
import { heldOutputs } from '#indexer/mempool/store/held-outputs.queries.ts';
import type { PendingRows } from '#indexer/mempool/store/pending.store.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import type { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import { type FingerprintKey, storedFingerprint } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { InputIndex } from './input-index.ts';
import type { KeptTransaction, KeptTransactions } from './kept-transactions.ts';
import { type ShortFingerprint, shortFingerprint, shortFingerprintOf } from './outpoint-fingerprints.ts';
import {
  type HeldOutput,
  inputValuesNeeded,
  movesOf,
  type PendingMoves,
  storedScript,
} from './pending-transaction.ts';
import type { TransactionBatch } from './transaction-batch.ts';

export interface AnalysisContext {
  readonly pool: pg.Pool;
  readonly node: NodeMempool;
  readonly inputs: InputIndex;
  readonly kept: KeptTransactions;
  readonly fingerprintKey: FingerprintKey;
  nextPosition(): number;
}

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
 * Input values requested from the node per transaction: places after hundreds of unknown inputs stay unknown, so that
 * one transaction with thousands of inputs does not delay the others.
 */
const askedValuesMax = 250;

interface Looked {
  readonly tx: number;
  readonly txid: HashKey;
  readonly held: readonly (HeldOutput | null)[];
  readonly values: (Sats | null)[];
}

/**
 * Processes transactions: enters their inputs, finds what they reveal, move and pay, and keeps those that matter. At
 * most two queries to the database and the node, however many transactions there are.
 *
 * @param transactions indices in the batch, parents before children
 *
 * @param block the block that they are mined in; null: they are in the mempool
 */
export async function analyse(
  context: AnalysisContext,
  batch: TransactionBatch,
  transactions: readonly number[],
  block: BlockRef | null,
): Promise<Analysed> {
  const indexed = await indexedOutputs(context, batch, transactions);
  const rows: PendingRows[] = [];
  const dropped: HashKey[] = [];
  const again = new Set<HashKey>();
  const conflicts = new Map<HashKey, HashKey>();
  const keep = (looked: Looked, replaces: readonly HashKey[]): void => {
    const row = keptRow(context, batch, looked, replaces, block);
    context.kept.add(row.transaction);
    rows.push(row);
    for (const { fingerprint } of row.transaction.made) {
      const spender = context.inputs.spender(fingerprint);
      if (spender !== null) again.add(spender);
    }
  };
  const waiting: { looked: Looked; replaces: HashKey[]; asked: number[] }[] = [];
  for (const tx of transactions) {
    const txid = hashKey(batch.txid(tx));
    const fingerprints = inputFingerprints(batch, tx);
    const replaces = block === null ? context.inputs.add(txid, fingerprints) : [];
    for (const other of replaces) conflicts.set(other, txid);
    const outpoints = batch.outpoints(tx);
    const held = fingerprints.map((fingerprint, input) => {
      const outpoint = outpoints.subarray(input * 36, input * 36 + 36);
      return context.kept.held(fingerprint, outpoint) ?? indexed.get(outpoint.toString('latin1')) ?? null;
    });
    const values = held.map((output) => output?.value ?? null);
    const isMoving = held.some((output) => output !== null);
    if (batch.reveal(tx) < 0 && !isMoving) {
      if (context.kept.get(txid) !== null) dropped.push(txid);
      continue;
    }
    const looked = { tx, txid, held, values };
    const asked = inputsToAsk(batch, looked);
    if (asked.length === 0) keep(looked, replaces);
    else waiting.push({ looked, replaces, asked });
  }
  const answers = await context.node.outputValues(
    waiting.flatMap(({ looked, asked }) => {
      const outpoints = batch.outpoints(looked.tx);
      return asked.map((input) => outpoints.subarray(input * 36, input * 36 + 36));
    }),
  );
  let at = 0;
  for (const { looked, replaces, asked } of waiting) {
    for (const input of asked) looked.values[input] = answers[at++] ?? null;
    keep(looked, replaces);
  }
  return { rows, dropped, again: [...again], conflicts };
}

/** The inputs whose values are needed and unknown, in order; none where there are too many. */
function inputsToAsk(batch: TransactionBatch, { tx, held, values }: Looked): number[] {
  const needed = inputValuesNeeded(batch, tx, held);
  if (needed === 0) return [];
  const asked: number[] = [];
  for (let input = 0; input <= needed; input++) if (values[input] === null) asked.push(input);
  return asked.length > askedValuesMax ? [] : asked;
}

function inputFingerprints(batch: TransactionBatch, tx: number): ShortFingerprint[] {
  const { txFirstInput, inputFingerprintHigh, inputFingerprintLow } = batch.columns;
  const first = txFirstInput[tx]!;
  return Array.from({ length: batch.inputCount(tx) }, (_, input) =>
    shortFingerprint(inputFingerprintHigh[first + input]!, inputFingerprintLow[first + input]!),
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

function keptRow(
  context: AnalysisContext,
  batch: TransactionBatch,
  { tx, txid, held, values }: Looked,
  replaces: readonly HashKey[],
  block: BlockRef | null,
): PendingRows {
  const moves = movesOf(
    batch,
    tx,
    held.map((output, input) => ({ held: output, value: values[input] ?? null })),
  );
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
    sizeBytes: sizeOf(moves),
    replaces: [...(context.kept.get(txid)?.replaces ?? []), ...replaces],
    entry: context.kept.get(txid)?.entry ?? null,
    block,
  };
  return { transaction, moves: detached(moves), seenAt: Date.now() };
}

/** Size of a row of short fields. */
const rowBytes = 300;

/** Size of the rows, in bytes. */
function sizeOf({ inscriptions, transfers }: PendingMoves): number {
  let size = (inscriptions.length + transfers.length) * rowBytes;
  for (const { content, metadataJson, metadataFolded, propertiesJson, ...row } of inscriptions) {
    const parts = [
      content?.body,
      content?.folded,
      metadataJson,
      metadataFolded,
      propertiesJson,
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
