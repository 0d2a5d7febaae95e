import assert from 'node:assert/strict';
import type pg from 'pg';
import { hasRevealed } from '#chain/inscriptions/reveal.queries.ts';
import { frameWeight, outputWeight, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutputKind } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { hasMinedOutput } from '#payments/payments.queries.ts';
import { shownTxidOf } from './outpoint.ts';

/** `burn`: what burns the inscriptions of a reveal. `return`: what sends deposits home that no delivery uses. */
export const orderTransactionKinds = ['commit', 'reveal', 'burn', 'return', 'refund'] as const;
export type OrderTransactionKind = (typeof orderTransactionKinds)[number];

export interface OrderTransaction {
  readonly txid: Txid;
  readonly kind: OrderTransactionKind;
  /** Of its kind: reveals in the order of their files. A burn has that of its reveal. */
  readonly index: number;
  /** Of a reveal or a burn: how many files it inscribes or burns. */
  readonly files: number;
  readonly plan: StoredPlan;
  readonly fee: number;
  /** Its block, once it is so deep that its outputs are watched no more; of refunds. */
  readonly height: Height | null;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
}

/** What is kept of a plan: outpoints as `<txid>:<vout>`, and outputs by what they are. Sats. */
export interface StoredPlan {
  readonly inputs: readonly {
    readonly outpoint: string;
    readonly value: number;
    /** It is an output of the inventory; absent: it is not. */
    readonly isInventory?: true;
    /** It is a coin of the operator, of another order or of none; absent: it is not. */
    readonly isOperator?: true;
  }[];
  readonly outputs: readonly {
    readonly kind: PlannedOutputKind;
    readonly value: number;
    readonly script: string;
  }[];
}

/** Each after those of its order that it spends, and a burn right after its reveal. */
const inOrder = `t.made_at, CASE t.kind WHEN 'commit' THEN 0 WHEN 'reveal' THEN 1 WHEN 'burn' THEN 1 ELSE 2 END,
  t.index, t.kind = 'burn'`;

/** The transactions of an order that nothing has taken the place of, the oldest first: without their megabytes. */
export async function readTransactions(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<OrderTransaction[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    kind: OrderTransactionKind;
    index: number;
    files: number;
    plan: StoredPlan;
    fee: number;
    height: Height | null;
    made_at: Date;
    sent_at: Date | null;
    refusal: string | null;
  }>(
    `SELECT txid, kind, index, files, plan, fee, height, made_at, sent_at, refusal FROM service.order_transactions AS t
      WHERE order_id = $1 AND superseded_at IS NULL ORDER BY ${inOrder}`,
    [id],
  );
  return rows.map(({ txid, made_at: madeAt, sent_at: sentAt, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    madeAt,
    sentAt,
  }));
}

/**
 * Takes up superseded transactions of an order again that a block has: whoever had them may have sent them. Nothing can
 * take their place any more, so what spends the same is superseded.
 */
export async function reviveMined(tx: pg.ClientBase, orderId: string): Promise<void> {
  const all = await readIfSuperseded(tx, orderId);
  const mined = minedAmong(all);
  if (!all.some(({ id, isSuperseded }) => isSuperseded && mined.has(id))) return;
  const inputs = all.filter(({ id }) => mined.has(id)).flatMap(({ outpoints }) => outpoints);
  const spent = new Set(inputs);
  const isRival = ({ id, outpoints }: KnownTransaction): boolean =>
    !mined.has(id) && outpoints.some((outpoint) => spent.has(outpoint));
  await supersede(
    tx,
    all.filter(isRival).map(({ txid }) => txid),
  );
  const back = withWhatTheyBring(all, mined, isRival);
  await tx.query('UPDATE service.order_transactions SET superseded_at = NULL WHERE txid = ANY($1)', [
    all.filter(({ id }) => back.has(id)).map(({ txid }) => Buffer.from(txid)),
  ]);
}

/** With the other reveals of a mined commit, and the burns of all of these: they can be mined again. */
function withWhatTheyBring(
  all: readonly KnownTransaction[],
  mined: ReadonlySet<string>,
  isRival: (each: KnownTransaction) => boolean,
): ReadonlySet<string> {
  const back = new Set(mined);
  // a burn stands on its reveal, and that on its commit
  for (const kind of ['reveal', 'burn'] as const) {
    for (const each of all) {
      const isBrought = each.outpoints.some((outpoint) => back.has(shownTxidOf(outpoint)));
      if (each.kind === kind && !isRival(each) && isBrought) back.add(each.id);
    }
  }
  return back;
}

interface KnownTransaction {
  readonly txid: Txid;
  /** As it is shown. */
  readonly id: string;
  readonly kind: OrderTransactionKind;
  readonly outpoints: readonly string[];
  readonly isSuperseded: boolean;
  /** The index or the payments have it in a block. */
  readonly isMined: boolean;
}

/** All transactions of an order of which at least one is superseded; else none. */
async function readIfSuperseded(tx: pg.ClientBase, orderId: string): Promise<KnownTransaction[]> {
  const { rows } = await tx.query<{
    txid: Buffer;
    kind: OrderTransactionKind;
    plan: StoredPlan;
    is_superseded: boolean;
    is_mined: boolean;
  }>(
    `SELECT t.txid, t.kind, t.plan, t.superseded_at IS NOT NULL AS is_superseded,
            ${hasRevealed('t.txid')}
              OR ${hasMinedOutput('t.txid')} AS is_mined
       FROM service.order_transactions AS t
      WHERE t.order_id = $1
        AND EXISTS (SELECT FROM service.order_transactions AS s WHERE s.order_id = $1 AND s.superseded_at IS NOT NULL)`,
    [orderId],
  );
  return rows.map(({ txid, kind, plan, is_superseded: isSuperseded, is_mined: isMined }) => ({
    txid: trustedTxid(txid),
    id: displayHash(txid),
    kind,
    outpoints: plan.inputs.map(({ outpoint }) => outpoint),
    isSuperseded,
    isMined,
  }));
}

/** With what these spend: blocks have that, too. */
function minedAmong(all: readonly KnownTransaction[]): ReadonlySet<string> {
  const byId = new Map(all.map((each) => [each.id, each]));
  const mined = new Set(all.filter(({ isMined }) => isMined).map(({ id }) => id));
  for (const id of mined) {
    // a set that grows is walked to its new end
    for (const outpoint of byId.get(id)?.outpoints ?? []) {
      if (byId.has(shownTxidOf(outpoint))) mined.add(shownTxidOf(outpoint));
    }
  }
  return mined;
}

/** Stores a signed transaction, before it is broadcast. */
export async function insertTransaction(
  tx: pg.ClientBase,
  orderId: string,
  {
    txid,
    kind,
    index,
    files,
    bytes,
    plan,
    fee,
  }: Pick<OrderTransaction, 'txid' | 'kind' | 'index' | 'files' | 'plan' | 'fee'> & { bytes: Uint8Array },
): Promise<void> {
  await tx.query(
    `INSERT INTO service.order_transactions AS t (txid, order_id, kind, index, files, bytes, plan, fee)
     VALUES ($1, $2, $3, $7, $8, $4, $5, $6)
     ON CONFLICT (txid) DO UPDATE SET superseded_at = NULL WHERE t.order_id = excluded.order_id`,
    [Buffer.from(txid), orderId, kind, Buffer.from(bytes), JSON.stringify(plan), fee, index, files],
  );
}

/** Ends the broadcast of transactions: the payments that they spend are gone, or another transaction is to spend them. */
export async function supersede(tx: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  if (txids.length === 0) return;
  await tx.query('UPDATE service.order_transactions SET superseded_at = now() WHERE txid = ANY($1)', [
    txids.map((txid) => Buffer.from(txid)),
  ]);
}

/** A node took a transaction, or refused it for this reason. */
export async function markSent(client: pg.ClientBase, txid: Txid, refusal: string | null): Promise<void> {
  await client.query(
    `UPDATE service.order_transactions
        SET refusal = $2, sent_at = CASE WHEN $2::text IS NULL THEN coalesce(sent_at, now()) ELSE sent_at END
      WHERE txid = $1 AND (refusal IS DISTINCT FROM $2 OR sent_at IS NULL)`,
    [Buffer.from(txid), refusal],
  );
}

/** A transaction that is in no block, as far as is known. */
export interface WaitingTransaction
  extends Pick<OrderTransaction, 'txid' | 'kind' | 'index' | 'sentAt' | 'refusal'> {
  readonly orderId: string;
  readonly virtualBytes: number;
}

/**
 * Transactions of these orders that were never sent, with the sent ones in no block on which they may depend; null:
 * those of all orders that are needed and may be in no block. The oldest first, those of an order in the order in which
 * they spend each other.
 */
export async function transactionsToSend(
  client: pg.ClientBase,
  orderIds: readonly string[] | null,
): Promise<WaitingTransaction[]> {
  const { rows } =
    orderIds === null
      ? await client.query<WaitingRow>(allToSend)
      : await client.query<WaitingRow>(newToSend, [orderIds]);
  return rows.map(({ txid, order_id: orderId, kind, index, plan, bytes, sent_at: sentAt, refusal }) => ({
    txid: trustedTxid(txid),
    orderId,
    kind,
    index,
    virtualBytes: virtualBytesOf(plan, bytes),
    sentAt,
    refusal,
  }));
}

interface WaitingRow {
  readonly txid: Buffer;
  readonly order_id: string;
  readonly kind: OrderTransactionKind;
  readonly index: number;
  readonly plan: StoredPlan;
  readonly bytes: number;
  readonly sent_at: Date | null;
  readonly refusal: string | null;
}

/** The virtual size of a transaction of this length (BIP 141). Pure. */
export function virtualBytesOf({ inputs, outputs }: StoredPlan, bytes: number): number {
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(Buffer.from(script, 'hex')), 0);
  const stripped =
    (frameWeight(inputs.length, outputs.length) - markerWeight + paid) / 4 + inputs.length * inputBytes;
  return virtualSize(3 * stripped + bytes);
}

/** Marker and flag (BIP 144). */
const markerWeight = 2;
/** Outpoint, the length of an empty script, sequence. */
const inputBytes = 41;

const waiting =
  't.txid, t.order_id, t.kind, t.index, t.plan, octet_length(t.bytes) AS bytes, t.sent_at, t.refusal';
const isNew = (table: string): string =>
  `${table}.superseded_at IS NULL AND ${table}.sent_at IS NULL AND ${table}.refusal IS NULL`;
// what was sent takes places of the cluster: without it, new ones would fill the last place
const newToSend = `SELECT ${waiting} FROM service.order_transactions AS t
  WHERE t.order_id = ANY($1::uuid[])
    AND (${isNew('t')}
         OR t.kind IN ('commit', 'reveal', 'burn') AND t.superseded_at IS NULL AND t.sent_at IS NOT NULL
            AND t.height IS NULL
            AND EXISTS (SELECT FROM service.order_transactions AS new
                         WHERE new.order_id = t.order_id AND ${isNew('new')}))
  ORDER BY ${inOrder}`;
// however old they are: nobody else sends what orders wait for. Index order_transactions_watched has refunds and
// returns
// that are not deep in blocks
const allToSend = `SELECT txid, order_id, kind, index, plan, bytes, sent_at, refusal FROM (
    SELECT ${waiting}, t.made_at
      FROM service.orders AS o JOIN service.order_transactions AS t ON t.order_id = o.id
     WHERE o.state NOT IN ('completed', 'refunded') AND t.kind IN ('commit', 'reveal', 'burn')
       AND t.superseded_at IS NULL AND t.height IS NULL
    UNION ALL
    SELECT ${waiting}, t.made_at FROM service.order_transactions AS t
     WHERE t.kind IN ('return', 'refund') AND t.height IS NULL AND t.superseded_at IS NULL
       AND NOT ${hasMinedOutput('t.txid')}) AS t
  ORDER BY ${inOrder}`;

/** A transaction with its signatures, as it is sent. */
export interface SignedTransaction {
  readonly txid: Txid;
  readonly bytes: Uint8Array;
  /** Sats of its OP_RETURN output, which nodes send only where they are told how many. */
  readonly burned: number;
}

/** A stored transaction: none is ever deleted. */
export async function readSigned(client: pg.ClientBase, txid: Txid): Promise<SignedTransaction> {
  const { rows } = await client.query<Pick<SignedTransaction, 'bytes' | 'burned'>>(
    `SELECT bytes, CASE WHEN kind = 'burn' THEN (
              SELECT sum((output->>'value')::bigint)::bigint FROM jsonb_array_elements(plan->'outputs') AS o (output)
               WHERE output->>'kind' = 'burn') ELSE 0 END AS burned
       FROM service.order_transactions WHERE txid = $1`,
    [Buffer.from(txid)],
  );
  const [row] = rows;
  assert(row !== undefined, 'a transaction that was read is stored');
  return { txid, ...row };
}
