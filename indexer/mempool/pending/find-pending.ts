import type pg from 'pg';
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
import type { Sats } from '#kernel/primitives/sats.ts';
import type { InputIndex } from './input-index.ts';
import type { KeptTransaction, KeptTransactions } from './kept-transactions.ts';
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
  /** Null: runes are not known, and nothing is told of them. */
  readonly runes: RunesToCome | null;
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
 * Input values requested from the node per transaction: places after hundreds of unknown inputs stay unknown, so that
 * one transaction with thousands of inputs does not delay the others.
 */
const askedValuesMax = 250;

interface Looked {
  readonly tx: number;
  readonly txid: HashKey;
  readonly held: readonly (HeldOutput | null)[];
  readonly values: (Sats | null)[];
  readonly runic: Runic | null;
}

/** A transaction that has to do with runes: its message, and what its inputs hold. */
interface Runic {
  readonly artifact: Artifact | null;
  readonly held: readonly (RunicHolding | null)[];
}

/**
 * Processes transactions: enters their inputs, finds what they reveal and move, and keeps those that matter. At most
 * four queries to the database and two to the node, however many transactions there are; one more to the node for each
 * that etches a name.
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
  const runes = await runesToKnow(context, batch, transactions);
  const rows: PendingRows[] = [];
  const dropped: HashKey[] = [];
  const again = new Set<HashKey>();
  const conflicts = new Map<HashKey, HashKey>();
  const keep = async (looked: Looked, replaces: readonly HashKey[]): Promise<void> => {
    const row = keptRow(
      context,
      batch,
      looked,
      replaces,
      block,
      await pendingRunesOf(context, batch, looked, runes),
    );
    context.kept.add(row.transaction);
    rows.push(row);
    for (const { fingerprint } of [...row.transaction.made, ...(row.transaction.runes?.made ?? [])]) {
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
    const runic = runicOf(context, tx, fingerprints, outpoints, runes);
    if (batch.reveal(tx) < 0 && !isMoving && runic === null) {
      if (context.kept.get(txid) !== null) dropped.push(txid);
      continue;
    }
    const looked = { tx, txid, held, values, runic };
    const asked = inputsToAsk(batch, looked);
    if (asked.length === 0) await keep(looked, replaces);
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
    await keep(looked, replaces);
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
    const spent = batch.outpoints(tx);
    for (let at = 0; at < spent.length; at += 36) outpoints.push(spent.subarray(at, at + 36));
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
  const spent = asksNode ? await node.spentOutputs(batch.outpoints(tx)) : null;
  return runesOf(batch, tx, artifact, held, spent, runes.context);
}

function keptRow(
  context: AnalysisContext,
  batch: TransactionBatch,
  { tx, txid, held, values }: Looked,
  replaces: readonly HashKey[],
  block: BlockRef | null,
  runes: PendingRunes | null,
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
    runes: runes === null ? null : { etching: runes.etching, mint: runes.mint, made: runes.made },
    sizeBytes: sizeOf(moves) + (runes?.moves.length ?? 0) * rowBytes,
    replaces: [...(context.kept.get(txid)?.replaces ?? []), ...replaces],
    entry: context.kept.get(txid)?.entry ?? null,
    block,
  };
  return { transaction, moves: detached(moves), runes, seenAt: Date.now() };
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
