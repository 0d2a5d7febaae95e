import type { FastifyReply } from 'fastify';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import {
  type TransactionStanding,
  type TransactionView,
  transactionPage,
} from '#web/pages/transaction.page.ts';
import { type ChainSources, rowsMax, toldOrNull } from './chain-sources.ts';
import { feeOutlook } from './fee-outlook.ts';
import { pendingCardOf } from './pending-card.ts';
import { type ReadTransaction, readTransaction } from './read-transaction.ts';
import { type TransactionFacts, transactionFacts } from './transaction-facts.ts';
import { movedList, runeList, soldList } from './transaction-lists.ts';
import { type NodeFacts, nodeFacts } from './transaction-node.ts';
import { inputLines, isCoinbaseInput, isTold, outputLines, type RowParts } from './transaction-rows.ts';

/**
 * Sends the page of a transaction. Throws `not_found` if no block has the transaction, and neither the node nor the
 * index knows it.
 */
export async function sendTransactionPage(
  sources: ChainSources,
  reply: FastifyReply,
  txid: Txid,
  page: number,
): Promise<FastifyReply> {
  const { deps, node } = sources;
  const asker = askerOf(reply);
  const read = await readTransaction(sources, txid, asker);
  const from = (page - 1) * rowsMax;
  const { inputs, outputs, outpoints } = shownParts(read, from);
  const { tip, facts } = await withSnapshot(
    deps.pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      facts: await transactionFacts(snapshot.client, read, outpoints),
    }),
    asker.signal,
  );
  requireKnown(read, facts);
  const untold = outpoints.flatMap((_, place) => (isTold(facts, place, from + place) ? [] : [place]));
  const told = await nodeFacts(node?.of(asker) ?? null, { read, inputs, outputs: outpoints, untold });
  const parts: RowParts = {
    read,
    facts,
    told,
    network: deps.network,
    book: satributesInForce(deps),
    client: asker.client,
  };
  const view: TransactionView = {
    site: siteOf(deps, tip),
    txid: displayHash(txid),
    standing: await standingOf(sources, parts),
    why: read.why,
    vsize: vsizeOf(parts),
    fee: feeOf(parts),
    isCoinbase: isCoinbase(read),
    ...(await rowsOf(parts, { inputs, outputs, from })),
    page,
    ...revealsOf(facts),
    moved: movedList(parts),
    sold: soldList(parts),
    runes: runeList(parts),
  };
  return sendPage(reply, transactionPage(view), { thumbnails: true });
}

/** Rows of inputs and outputs. All rows are null if the transaction's bytes are unavailable. */
async function rowsOf(
  parts: RowParts,
  { inputs, outputs, from }: Omit<ReturnType<typeof shownParts>, 'outpoints'> & { readonly from: number },
): Promise<Pick<TransactionView, 'sizes' | 'inputs' | 'outputs' | 'totalPages'>> {
  const { transaction } = parts.read;
  if (transaction === null) return { sizes: null, inputs: null, outputs: null, totalPages: 0 };
  const totals = [transaction.inputs.length, transaction.outputs.length] as const;
  return {
    sizes: { bytes: transaction.bytes.length, weight: transaction.weight },
    inputs: { lines: inputLines(parts, inputs, { from }), total: totals[0] },
    outputs: { lines: await outputLines(parts, outputs, { from }), total: totals[1] },
    totalPages: Math.ceil(Math.max(...totals) / rowsMax),
  };
}

function revealsOf({
  summaries,
  revealed,
  pending,
}: TransactionFacts): Pick<TransactionView, 'revealed' | 'pendingReveals' | 'isAllRevealed'> {
  const waiting = pending?.inscriptions ?? [];
  return {
    revealed: summaries.map(cardOf),
    pendingReveals: waiting.slice(0, rowsMax).map(pendingCardOf),
    isAllRevealed: Math.max(revealed.length, waiting.length) <= rowsMax,
  };
}

/** The inputs and outputs of a page, and the outpoints of its outputs. */
function shownParts({ txid, transaction }: ReadTransaction, from: number) {
  const outputs = transaction?.outputs.slice(from, from + rowsMax) ?? [];
  const inputs = (transaction?.inputs.slice(from, from + rowsMax) ?? []).map(
    ({ previousTxid, previousVout }): Outpoint => ({ txid: previousTxid, vout: previousVout }),
  );
  const outpoints = outputs.map((_, place): Outpoint => ({ txid, vout: from + place }));
  return { inputs, outputs, outpoints };
}

function requireKnown({ txid, transaction, block, why }: ReadTransaction, facts: TransactionFacts): void {
  const { revealed, pending, departure } = facts;
  if (transaction !== null || block !== null || revealed.length > 0 || pending !== null || departure !== null)
    return;
  const name = `transaction ${displayHash(txid)}`;
  // if the node's answer is only "not found", it adds nothing to this message
  const words = why === null || why === `${name} not found` ? '' : `: ${why}`;
  throw new AppError('not_found', `${name} is not known here${words}`);
}

const isCoinbase = ({ transaction, index }: ReadTransaction): boolean => {
  const [first] = transaction?.inputs ?? [];
  return (
    index === 0 ||
    (first !== undefined && isCoinbaseInput({ txid: first.previousTxid, vout: first.previousVout }))
  );
};

function vsizeOf({ read: { transaction }, facts: { pending }, told: { entry } }: RowParts): number | null {
  // use the node's size, because it also counts signature checks
  if (entry !== null || pending !== null) return entry?.vsize ?? pending?.vsize ?? null;
  return transaction === null ? null : Math.ceil(transaction.weight / 4);
}

/** The fee of a transaction. `null` if the transaction is a coinbase, or the value of an input is unknown. */
function feeOf({ read, facts: { pending }, told: { entry } }: RowParts): number | null {
  const { transaction, spent } = read;
  if (isCoinbase(read)) return null;
  const told = entry?.fee ?? pending?.fee ?? null;
  if (told !== null) return told;
  if (transaction === null || spent === null || spent.length !== transaction.inputs.length) return null;
  const sum = (values: readonly { readonly value: number }[]): number =>
    values.reduce((total, { value }) => total + value, 0);
  return sum(spent) - sum(transaction.outputs);
}

async function standingOf({ estimates }: ChainSources, parts: RowParts): Promise<TransactionStanding> {
  const { read, facts, told } = parts;
  const { block, index } = read;
  if (block !== null) {
    const { height, time, isIndexed } = block;
    return { kind: 'block', height, time, isIndexed, index };
  }
  const { pending, departure } = facts;
  if (pending === null && told.entry === null) {
    if (departure === null) return { kind: 'unknown' };
    const { reason, replaced_by: by } = departure;
    return { kind: 'gone', reason, by: by === null ? null : displayHash(by) };
  }
  return {
    kind: 'pending',
    firstSeen: firstSeenOf(facts, told),
    replaces: pending === null ? [] : hashesIn(pending.replaces),
    outlook: await outlookOf(estimates, parts),
    family: told.entry,
  };
}

const firstSeenOf = ({ pending }: TransactionFacts, { entry }: NodeFacts): number | null =>
  pending === null ? (entry?.time ?? null) : Math.floor(pending.firstSeen.getTime() / 1000);

/** Hashes of 32 bytes each, as text. A transaction may replace a hundred other transactions. */
const hashesIn = (bytes: Buffer): string[] =>
  Array.from({ length: bytes.length / 32 }, (_, at) => displayHash(bytes.subarray(at * 32, at * 32 + 32)));

async function outlookOf(estimates: ChainSources['estimates'], parts: RowParts): Promise<string | null> {
  const [fee, vsize] = [feeOf(parts), vsizeOf(parts)];
  if (estimates === null || fee === null || vsize === null) return null;
  const fees = await toldOrNull(estimates.recommended());
  return fees === null ? null : feeOutlook(fee / vsize, fees);
}
