import type { ClientBase } from 'pg';
import { type InscriptionSummary, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import {
  inscriptionNames,
  type MovedInscription,
  movedBy,
  type NamedInscription,
  type RevealedInscription,
  revealedBy,
} from '#chain/inscriptions/transaction-inscriptions.queries.ts';
import { hasAddressIndex, spendHeights } from '#chain/outputs/address.queries.ts';
import {
  fingerprintKey,
  type KnownOutputs,
  knownOutputs,
  type Outpoint,
} from '#chain/outputs/output.queries.ts';
import {
  type DepartureRow,
  type PendingTransferRow,
  pendingTransfersOf,
} from '#chain/pending/pending.queries.ts';
import { type PendingRuneTransaction, pendingRunes } from '#chain/pending/pending-runes.queries.ts';
import {
  departureOf,
  type PendingSummary,
  type PendingTransaction,
  pendingInscriptionsOf,
  pendingTransaction,
} from '#chain/pending/pending-transaction.queries.ts';
import { knowsRunesAt } from '#chain/runes/rune-standing.queries.ts';
import { type RuneChange, runesOfTransaction } from '#chain/runes/transaction-runes.queries.ts';
import {
  areSalesLeftOut,
  type StoredSale,
  salesOfTransaction,
  salesOfTransactionIndex,
} from '#chain/sales/sale.queries.ts';
import { satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { type PendingSale, pendingSales } from '#market/sales/pending-sales.store.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import { rowsMax } from './chain-sources.ts';
import type { ReadTransaction } from './read-transaction.ts';

/**
 * Maximum number of inscriptions, and of runes, that are read for a transaction. A page lists fewer, but its outputs
 * show their contents, too.
 */
const heldMax = 1_000;
/** Maximum number of ranges of sats that a page compares with satributes. They take some tens of milliseconds. */
const rangesMax = 5_000;

/** The index's facts about a transaction, from one snapshot. */
export interface TransactionFacts {
  /** At most as many as the limit, and one more if there are more. */
  readonly revealed: readonly RevealedInscription[];
  readonly summaries: readonly InscriptionSummary[];
  /** Null: unknown. */
  readonly moved: readonly MovedInscription[] | null;
  readonly names: ReadonlyMap<InscriptionKey, NamedInscription>;
  /** Null: unknown. */
  readonly sold: readonly StoredSale[] | null;
  /** Null: unknown. */
  readonly runes: readonly RuneChange[] | null;
  /** Shown outputs that no block spends, by their index in the query. */
  readonly known: KnownOutputs;
  /** Heights at which the transaction's outputs were spent. `null` if there is no index of addresses. */
  readonly spends: ReadonlyMap<number, Height | null> | null;
  /** Ranges of the shown outputs. `null` if unknown. */
  readonly sats: ((outpoint: Outpoint) => readonly SatRange[] | null) | null;
  readonly pending: PendingFacts | null;
  /** The reason why the transaction left the mempool, if it is neither in the mempool nor in a block. */
  readonly departure: DepartureRow | null;
}

/** Facts about the transaction from the tables of the mempool. */
export interface PendingFacts extends PendingTransaction {
  readonly inscriptions: readonly PendingSummary[];
  readonly transfers: readonly PendingTransferRow[];
  readonly sold: readonly PendingSale[];
  readonly runes: PendingRuneTransaction | null;
}

const nothingKnown: KnownOutputs = { byPlace: new Map(), hasAll: false, hasAllWithValue: false };

/**
 * Reads the index's facts about a transaction.
 *
 * @param shown the outputs on the page
 */
export async function transactionFacts(
  client: ClientBase,
  read: ReadTransaction,
  shown: readonly Outpoint[],
): Promise<TransactionFacts> {
  const { txid, block } = read;
  const height = block?.isIndexed === true ? block.height : null;
  const revealed = await revealedBy(client, txid, heldMax);
  const moved = height === null ? null : await movedIn(client, read, height);
  const pending = block === null ? await pendingFacts(client, read) : null;
  return {
    revealed,
    summaries: await inscriptionSummaries(
      client,
      revealed.slice(0, rowsMax).map((each) => each.key),
    ),
    moved,
    names: await inscriptionNames(
      client,
      [...revealed, ...(moved ?? [])].map((each) => each.key),
    ),
    sold: height === null ? null : await soldIn(client, read),
    runes: height === null ? null : await runesIn(client, read, height),
    known: await knownOf(client, shown),
    spends: height === null ? null : await spendsOf(client, read, height),
    sats: await satsOf(client, shown),
    pending,
    departure: block === null && pending === null ? await departureOf(client, txid) : null,
  };
}

async function knownOf(client: ClientBase, shown: readonly Outpoint[]): Promise<KnownOutputs> {
  const key = await fingerprintKey(client);
  return key === null ? nothingKnown : knownOutputs(client, shown, fingerprintsOf(key, shown));
}

async function movedIn(
  client: ClientBase,
  { txid, transaction }: ReadTransaction,
  height: Height,
): Promise<MovedInscription[] | null> {
  const inputs = transaction?.inputs.map(({ previousTxid, previousVout }) => ({
    txid: previousTxid,
    vout: previousVout,
  }));
  return movedBy(client, { txid, height, inputs: inputs ?? [] }, heldMax);
}

async function spendsOf(
  client: ClientBase,
  { txid }: ReadTransaction,
  height: Height,
): Promise<TransactionFacts['spends']> {
  return (await hasAddressIndex(client)) ? spendHeights(client, { txid, height }) : null;
}

/**
 * Sales in a transaction. `null` if sales are not indexed, or if the table is still being filled. Deliveries of the
 * operator's own orders are not sales.
 */
async function soldIn(client: ClientBase, { txid }: ReadTransaction): Promise<StoredSale[] | null> {
  if ((await areSalesLeftOut(client)) || !(await isComplete(client, 'sales'))) return null;
  const built = await builtIndexes(client, [salesOfTransactionIndex]);
  if (!built.has(salesOfTransactionIndex)) return null;
  if ((await ownTransactions(client, [txid])).length > 0) return [];
  return salesOfTransaction(client, txid, rowsMax + 1);
}

/**
 * Changes of runes. `null` if the runes of the block are unknown, or if the transaction's position in the block is
 * unknown.
 */
async function runesIn(
  client: ClientBase,
  { index }: ReadTransaction,
  height: Height,
): Promise<RuneChange[] | null> {
  if (!(await knowsRunesAt(client, height)) || index === null) return null;
  return runesOfTransaction(client, { height, txIndex: index }, heldMax);
}

/**
 * Ranges of sats by output. `null` if there is no index of sats, or the outputs have more ranges than a page compares.
 */
async function satsOf(client: ClientBase, shown: readonly Outpoint[]): Promise<TransactionFacts['sats']> {
  try {
    const ranges = await satRangesOf(client, shown, rangesMax);
    return (outpoint) => ranges.of(outpoint);
  } catch (error) {
    if (error instanceof AppError && error.code === 'request_invalid') return null;
    throw error;
  }
}

async function pendingFacts(client: ClientBase, { txid }: ReadTransaction): Promise<PendingFacts | null> {
  const kept = await pendingTransaction(client, txid);
  if (kept === null) return null;
  const { position } = kept;
  const [runes = null] = await pendingRunes(client, { script: null, key: null }, position - 1, 1);
  const after = { position: position - 1, input: integerMax, place: integerMax };
  const filter = { script: null, inscription: null, collection: null };
  const sold = (await areSalesLeftOut(client)) ? [] : await pendingSales(client, filter, after, rowsMax);
  return {
    ...kept,
    inscriptions: await pendingInscriptionsOf(client, txid, rowsMax + 1),
    transfers: await pendingTransfersOf(client, position, heldMax),
    sold: sold.filter((sale) => sale.position === position),
    runes: runes?.position === position ? runes : null,
  };
}

/** Largest value of the database columns of inputs and positions. */
const integerMax = 2 ** 31 - 1;
