import { feeAt } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { MempoolStanding } from '#orders/sending/mempool-standing.ts';
import type { ClusterLimits } from '#orders/sending/node-standing.ts';
import type { BumpedTransaction } from './plan-bump.ts';

/** A transaction of an order that has waited long. */
export interface WaitingParent extends BumpedTransaction {
  readonly id: string;
  /** Null: it is not in the mempool. */
  readonly mempool: MempoolStanding | null;
  /** Its unmined ancestors, named by the first of them. */
  readonly commit: { readonly id: string; readonly fee: bigint; readonly virtualBytes: number } | null;
  /** Rate that it should pay. */
  readonly wantedRate: bigint;
}

/**
 * Rate that the transactions of an order should pay now. A customer who paid less than the estimate chose to wait: the
 * service pays only for the rise of fees since the payment. Without an estimate the rise is unknown, and nothing is
 * paid beyond the asked rate. Rates are sats for 1,000 virtual bytes. Pure.
 *
 * @param asked rate that the customer asked for @param then the estimate when the order was paid; null: there was none
 * @param now the rate that is paid now
 */
export function wantedRate(asked: bigint, then: bigint | null, now: bigint): bigint {
  if (then === null) return asked;
  if (asked >= then) return now;
  return (asked * now) / then;
}

/** Shortfall of a rate that is tolerated: estimates move that far within minutes. */
const tolerated = { of: 10n, less: 1n };

/**
 * Whether a transaction that has waited long pays too little. A dropped one whose customer chose less than the mempool
 * takes now waits for lower fees. Pure.
 *
 * @param mempoolMinFeeRate the mempool takes nothing below this rate
 */
export function isStuck(
  { mempool, wantedRate: wanted }: Pick<WaitingParent, 'mempool' | 'wantedRate'>,
  mempoolMinFeeRate: bigint,
): boolean {
  if (mempool === null) return wanted >= mempoolMinFeeRate;
  return mempool.effectiveRate * tolerated.of < wanted * (tolerated.of - tolerated.less);
}

/** Virtual bytes of a child with one input beside those of its parents, and a coin. */
const childBytes = 170;
const bytesOfParent = virtualSize(keyInputWeight);

/** Cost to pay for a transaction by itself. */
const lackAlone = ({ virtualBytes, commit, fee, wantedRate: rate }: WaitingParent): bigint =>
  feeAt(virtualBytes + (commit?.virtualBytes ?? 0) + childBytes, rate) - fee - (commit?.fee ?? 0n);

/**
 * Groups of stuck transactions, each for one child, within the limits of clusters. A group has reveals of one
 * unconfirmed commit, which depend on each other anyway; or transactions in the mempool that should pay the same rate.
 * Alone are transactions that are missing in the mempool, because packages of two travel furthest; those whose output
 * holds a customer's money; and those of orders that cannot bear the cost. Pure.
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

/** Packs members into as few groups as fit, in their order. */
function packed(members: readonly WaitingParent[], limits: ClusterLimits): WaitingParent[][] {
  const groups: { members: WaitingParent[]; count: number; virtualBytes: number }[] = [];
  for (const member of members) {
    const { count, virtualBytes } = member.mempool?.cluster ?? {
      count: 1,
      virtualBytes: member.virtualBytes,
    };
    // reveals of one commit are one cluster
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
