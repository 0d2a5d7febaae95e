import type pg from 'pg';
import { hasRevealed } from '#chain/inscriptions/reveal.queries.ts';
import { displayHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { isHeldReveal } from '#orders/etching/etchings.store.ts';
import { isKeptFromNode } from '#orders/mining/packages.store.ts';
import { isHeldMint } from '#orders/minting/ordered-mints.store.ts';
import { hasMinedOutput } from '#payments/payments.queries.ts';
import { shownTxidOf } from '#purse/transactions/outpoint.ts';
import { type StoredPlan, virtualBytesOf } from '#purse/transactions/stored-plan.ts';
import {
  type SpendingTransaction,
  settleBumps,
  supersede,
  takeUp,
} from '#purse/transactions/supersede.store.ts';
import type { WalletTransactionKind } from '#purse/transactions/wallet-transactions.store.ts';
import { lookSoon } from './order.store.ts';

/** All kinds except bumps and payouts, which belong to no order. */
export type OrderTransactionKind = Exclude<WalletTransactionKind, 'bump' | 'payout'>;

export interface OrderTransaction {
  readonly txid: Txid;
  readonly kind: OrderTransactionKind;
  /**
   * Index among the transactions of the same kind. Reveals are numbered in the sequence of their files. A burn has the
   * index of its reveal.
   */
  readonly index: number;
  /** Number of files that a reveal inscribes, or that a burn burns. */
  readonly files: number;
  readonly plan: StoredPlan;
  readonly fee: number;
  /**
   * Height of a refund or return that is deep enough to stop watching its outputs. Null if its outputs are still
   * watched.
   */
  readonly height: Height | null;
  readonly madeAt: Date;
  readonly sentAt: Date | null;
  readonly refusal: string | null;
  /**
   * Whether processing the order showed that the transaction is a mined mint that minted nothing. Absent if it did not,
   * or if this was not checked.
   */
  readonly isFailed?: boolean;
}

/**
 * SQL: sorts transactions of an order. Each transaction comes after the transactions that it spends, and a burn comes
 * right after its reveal.
 */
const inOrder = `t.made_at, CASE t.kind WHEN 'commit' THEN 0 WHEN 'reveal' THEN 1 WHEN 'burn' THEN 1 ELSE 2 END,
  t.index, t.kind = 'burn'`;

/** The transactions of an order that are not superseded, the oldest first, without their bytes. */
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
    `SELECT txid, kind, index, files, plan, fee, height, made_at, sent_at, refusal FROM service.wallet_transactions AS t
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

/** Commits and reveals of an order. Superseded transactions are included, because other people may still have them. */
export async function readDeliveries(
  client: pg.ClientBase,
  id: string,
): Promise<Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[]> {
  const { rows } = await client.query<{ txid: Buffer; kind: OrderTransactionKind; plan: StoredPlan }>({
    name: 'read deliveries',
    text: `SELECT txid, kind, plan FROM service.wallet_transactions AS t
            WHERE order_id = $1 AND kind IN ('commit', 'reveal') ORDER BY ${inOrder}`,
    values: [id],
  });
  return rows.map((row) => ({ ...row, txid: trustedTxid(row.txid) }));
}

/**
 * Restores superseded transactions of an order that are in a block, because other people may have sent them. Mined
 * transactions are final, so transactions with the same inputs are superseded. Orders that lose a transaction in this
 * way are examined again.
 */
export async function reviveMined(tx: pg.ClientBase, orderId: string): Promise<void> {
  const all = await readIfSuperseded(tx, orderId);
  const mined = minedAmong(all);
  if (!all.some(({ id, isSuperseded }) => isSuperseded && mined.has(id))) return;
  const inputs = all.filter(({ id }) => mined.has(id)).flatMap(outpointsOf);
  const spent = new Set(inputs);
  const isRival = (each: KnownTransaction): boolean =>
    !mined.has(each.id) && outpointsOf(each).some((outpoint) => spent.has(outpoint));
  const ended = await supersede(
    tx,
    all.filter(isRival).map(({ txid }) => txid),
  );
  const back = withWhatTheyBring(all, mined, isRival);
  const gaveWay = await takeUp(
    tx,
    all.filter(({ id }) => mined.has(id)),
    all.filter(({ id }) => back.has(id) && !mined.has(id)),
  );
  await lookSoon(tx, [...ended, ...gaveWay, ...(await settleBumps(tx))]);
}

/** Supersedes transactions of orders. Orders that give way to mined transactions are examined again. */
export async function supersedeOfOrders(tx: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  await lookSoon(tx, await supersede(tx, txids));
}

/**
 * Settles bumps after payments have changed, and returns the orders that give way to mined transactions. These orders
 * are examined again, even if this process is killed.
 */
export async function settleBumpsOfOrders(tx: pg.ClientBase): Promise<readonly string[]> {
  const gaveWay = await settleBumps(tx);
  await lookSoon(tx, gaveWay);
  return gaveWay;
}

/** Adds the other reveals of a mined commit, and the burns of all these reveals, because they can be mined again. */
function withWhatTheyBring(
  all: readonly KnownTransaction[],
  mined: ReadonlySet<string>,
  isRival: (each: KnownTransaction) => boolean,
): ReadonlySet<string> {
  const back = new Set(mined);
  // a burn spends its reveal, and the reveal spends its commit
  for (const kind of ['reveal', 'burn'] as const) {
    for (const each of all) {
      const isBrought = outpointsOf(each).some((outpoint) => back.has(shownTxidOf(outpoint)));
      if (each.kind === kind && !isRival(each) && isBrought) back.add(each.id);
    }
  }
  return back;
}

interface KnownTransaction extends SpendingTransaction {
  /** Txid in display order, in hex. */
  readonly id: string;
  readonly kind: OrderTransactionKind;
  readonly isSuperseded: boolean;
  /** Whether the index or the payments have the transaction in a block. */
  readonly isMined: boolean;
}

const outpointsOf = ({ plan }: KnownTransaction): string[] => plan.inputs.map(({ outpoint }) => outpoint);

/** All transactions of an order if at least one is superseded, else an empty list. */
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
       FROM service.wallet_transactions AS t
      WHERE t.order_id = $1
        AND EXISTS (SELECT FROM service.wallet_transactions AS s WHERE s.order_id = $1 AND s.superseded_at IS NOT NULL)`,
    [orderId],
  );
  return rows.map(({ txid, kind, plan, is_superseded: isSuperseded, is_mined: isMined }) => ({
    txid: trustedTxid(txid),
    // transactions of orders do not replace each other
    family: trustedTxid(txid),
    id: displayHash(txid),
    kind,
    plan,
    isSuperseded,
    isMined,
  }));
}

/** Txids of mined transactions and of their ancestors, because the ancestors must also be mined. */
function minedAmong(all: readonly KnownTransaction[]): ReadonlySet<string> {
  const byId = new Map(all.map((each) => [each.id, each]));
  const mined = new Set(all.filter(({ isMined }) => isMined).map(({ id }) => id));
  for (const id of mined) {
    // the iteration of a set includes members that are added during the iteration
    for (const { outpoint } of byId.get(id)?.plan.inputs ?? []) {
      if (byId.has(shownTxidOf(outpoint))) mined.add(shownTxidOf(outpoint));
    }
  }
  return mined;
}

/** A transaction that is not known to be in a block. */
export interface WaitingTransaction
  extends Pick<OrderTransaction, 'txid' | 'kind' | 'index' | 'sentAt' | 'refusal'> {
  readonly orderId: string;
  readonly virtualBytes: number;
}

/**
 * Transactions to send, the oldest first. Each transaction comes after the transactions of its order that it spends.
 * `orderIds` limits the result to the new transactions of these orders, and the sent but unmined transactions on which
 * the new ones may depend. If `orderIds` is null, the result has the needed transactions of all orders that may be
 * unmined.
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

const waiting =
  't.txid, t.order_id, t.kind, t.index, t.plan, octet_length(t.bytes) AS bytes, t.sent_at, t.refusal';
const isNew = (table: string): string =>
  `${table}.superseded_at IS NULL AND ${table}.sent_at IS NULL AND ${table}.refusal IS NULL`;
// sent transactions are included, because they occupy the cluster; otherwise the new transactions would fill the
// cluster's last free position
const newToSend = `SELECT ${waiting} FROM service.wallet_transactions AS t
  WHERE t.order_id = ANY($1::uuid[]) AND NOT ${isKeptFromNode('t')} AND NOT ${isHeldReveal('t')} AND NOT ${isHeldMint('t')}
    AND (${isNew('t')}
         OR t.kind IN ('commit', 'reveal', 'burn') AND t.superseded_at IS NULL AND t.sent_at IS NOT NULL
            AND t.height IS NULL AND NOT ${hasMinedOutput('t.txid')}
            AND EXISTS (SELECT FROM service.wallet_transactions AS new
                         WHERE new.order_id = t.order_id AND ${isNew('new')}))
  ORDER BY ${inOrder}`;
// regardless of age, because no one else sends the transactions that orders wait for; the index
// wallet_transactions_watched contains refunds and returns that are not deep in blocks
const allToSend = `SELECT txid, order_id, kind, index, plan, bytes, sent_at, refusal FROM (
    SELECT ${waiting}, t.made_at
      FROM service.orders AS o JOIN service.wallet_transactions AS t ON t.order_id = o.id
     WHERE o.state NOT IN ('completed', 'refunded') AND t.kind IN ('commit', 'reveal', 'burn')
       AND t.superseded_at IS NULL AND t.height IS NULL AND NOT ${isKeptFromNode('t')} AND NOT ${isHeldReveal('t')}
       AND NOT ${isHeldMint('t')}
       AND NOT (o.state IN ('waiting-reveal', 'waiting-rune-balance') AND ${hasMinedOutput('t.txid')})
    UNION ALL
    SELECT ${waiting}, t.made_at FROM service.wallet_transactions AS t
     WHERE t.kind IN ('return', 'refund') AND t.height IS NULL AND t.superseded_at IS NULL
       AND NOT ${hasMinedOutput('t.txid')}) AS t
  ORDER BY ${inOrder}`;
