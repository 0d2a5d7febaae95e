import { feeAt } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { MempoolStanding } from '#orders/sending/mempool-standing.ts';
import type { ClusterLimits } from '#orders/sending/node-standing.ts';
import type { BumpedTransaction } from './plan-bump.ts';

/** A transaction of an order that has waited long for a block. */
export interface WaitingParent extends BumpedTransaction {
  readonly id: string;
  /** State of the transaction in the mempool. Null if the transaction is not in the mempool. */
  readonly mempool: MempoolStanding | null;
  /**
   * Sums of the transaction's unmined ancestors; `id` is the id of the first ancestor. Null if there are no unmined
   * ancestors.
   */
  readonly commit: { readonly id: string; readonly fee: bigint; readonly virtualBytes: number } | null;
  /** Fee rate that the transaction should pay. */
  readonly wantedRate: bigint;
}

/**
 * Fee rate that the transactions of an order should pay now. If the customer paid less than the estimate, the customer
 * chose to wait, so the service pays only for the rise of fees since the payment. Without an estimate the rise is
 * unknown, so the service pays nothing beyond the asked rate. Rates are in sats per 1,000 virtual bytes. Pure.
 *
 * @param asked rate that the customer chose
 * @param then estimated rate at the time when the order was paid; null if there was no estimate
 * @param now rate that is needed now for a fast confirmation
 */
export function wantedRate(asked: bigint, then: bigint | null, now: bigint): bigint {
  if (then === null) return asked;
  if (asked >= then) return now;
  return (asked * now) / then;
}

/**
 * Maximum tolerated shortfall of a rate. It is one tenth (`less` / `of`), because estimates change that much within
 * minutes.
 */
const tolerated = { of: 10n, less: 1n };

/**
 * Whether a transaction that has waited long pays too little. A transaction that is not in the mempool is stuck if its
 * wanted rate reaches the mempool's minimum. Otherwise the transaction waits for lower fees, because its customer chose
 * a low rate. Pure.
 *
 * @param mempoolMinFeeRate minimum rate that the mempool accepts
 */
export function isStuck(
  { mempool, wantedRate: wanted }: Pick<WaitingParent, 'mempool' | 'wantedRate'>,
  mempoolMinFeeRate: bigint,
): boolean {
  if (mempool === null) return wanted >= mempoolMinFeeRate;
  return mempool.effectiveRate * tolerated.of < wanted * (tolerated.of - tolerated.less);
}

/** Size of a child in virtual bytes, with an input for a parent's output, an input for a coin, and one output. */
const childBytes = 170;
const bytesOfParent = virtualSize(keyInputWeight);

/** Cost of a child that pays only for this transaction and its ancestors, in sats. */
const lackAlone = ({ virtualBytes, commit, fee, wantedRate: rate }: WaitingParent): bigint =>
  feeAt(virtualBytes + (commit?.virtualBytes ?? 0) + childBytes, rate) - fee - (commit?.fee ?? 0n);

/**
 * Groups stuck transactions. Each group gets one child, within the limits of clusters. Reveals of the same unconfirmed
 * commit form a group, because they depend on each other anyway. Transactions in the mempool that should pay the same
 * rate form a group. A transaction is alone if its output holds a customer's money. A transaction that is not in the
 * mempool is alone, too, because packages of two are relayed best. If an order cannot pay the cost, its transactions
 * are grouped only with each other. Pure.
 */
export function groupStuck(
  stuck: readonly WaitingParent[],
  limits: ClusterLimits,
  budgets: ReadonlyMap<string, bigint>,
): readonly (readonly WaitingParent[])[] {
  const lacks = new Map<string, bigint>();
  for (const parent of stuck) {
    lacks.set(parent.orderId, (lacks.get(parent.orderId) ?? 0n) + lackAlone(parent));
  }
  const isPoor = (id: string): boolean => (lacks.get(id) ?? 0n) > (budgets.get(id) ?? 0n);
  const pools = new Map<string, WaitingParent[]>();
  for (const parent of stuck) {
    const pool = poolOf(parent, isPoor(parent.orderId));
    const members = pools.get(pool);
    if (members === undefined) pools.set(pool, [parent]);
    else members.push(parent);
  }
  return [...pools.values()].flatMap((members) => packed(members, limits));
}

function poolOf(
  { id, orderId, mempool, commit, owed, wantedRate: rate }: WaitingParent,
  isPoor: boolean,
): string {
  if (mempool === null || owed > 0n) return `alone ${id}`;
  if (commit !== null) return `commit ${commit.id}`;
  return isPoor ? `order ${orderId}` : `rate ${rate}`;
}

/** Puts members into groups within the limits. Each member in turn joins the first group that has room. */
function packed(members: readonly WaitingParent[], limits: ClusterLimits): WaitingParent[][] {
  const groups: { members: WaitingParent[]; count: number; virtualBytes: number }[] = [];
  for (const member of members) {
    const { count, virtualBytes } = member.mempool?.cluster ?? {
      count: 1,
      virtualBytes: member.virtualBytes,
    };
    // reveals of one commit are in the same cluster anyway, so they always join the group
    const group = groups.find(
      (open) =>
        member.commit !== null ||
        (open.count + count + 1 <= limits.count &&
          open.virtualBytes + virtualBytes + bytesOfParent + childBytes <= limits.virtualBytes),
    );
    if (group === undefined) {
      groups.push({ members: [member], count, virtualBytes: virtualBytes + bytesOfParent });
    } else {
      group.members.push(member);
      group.count += count;
      group.virtualBytes += virtualBytes + bytesOfParent;
    }
  }
  return groups.map((group) => group.members);
}
