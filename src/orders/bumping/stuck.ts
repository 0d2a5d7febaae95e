import { feeAt } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { MempoolStanding } from '#orders/sending/mempool-standing.ts';
import type { ClusterLimits } from '#orders/sending/node-standing.ts';
import type { BumpedTransaction } from './plan-bump.ts';

/** A transaction of an order that waits for long. */
export interface WaitingParent extends BumpedTransaction {
  readonly id: string;
  /** Null: it is not in the mempool. */
  readonly mempool: MempoolStanding | null;
  /** What it stands on that is in no block either, by its first transaction. */
  readonly commit: { readonly id: string; readonly fee: bigint; readonly virtualBytes: number } | null;
  /** What it is to pay. */
  readonly wantedRate: bigint;
}

/**
 * The rate that the transactions of an order are to pay now. A customer who paid for less than was estimated then chose
 * to wait: the service pays the rise of fees since the payment, and no more. Where nothing was estimated, no rise is
 * known, and nothing is paid beyond what was asked for. Rates are sats for 1,000 virtual bytes. Pure.
 *
 * @param asked by the customer
 * @param then the estimate when the order was paid; null: there was none
 * @param now what is paid now
 */
export function wantedRate(asked: bigint, then: bigint | null, now: bigint): bigint {
  if (then === null) return asked;
  if (asked >= then) return now;
  return (asked * now) / then;
}

/** What a rate may lack before something is done about it: estimates move by as much within minutes. */
const tolerated = { of: 10n, less: 1n };

/**
 * Whether a transaction that waits for long pays too little. One that was dropped, and whose customer chose less than
 * the mempool takes now, waits for fees to fall. Pure.
 *
 * @param mempoolMinFeeRate below which the mempool takes nothing
 */
export function isStuck(
  { mempool, wantedRate: wanted }: Pick<WaitingParent, 'mempool' | 'wantedRate'>,
  mempoolMinFeeRate: bigint,
): boolean {
  if (mempool === null) return wanted >= mempoolMinFeeRate;
  return mempool.effectiveRate * tolerated.of < wanted * (tolerated.of - tolerated.less);
}

/** Of a child with one input beside those of its parents, and a coin. */
const childBytes = 170;
const bytesOfParent = virtualSize(keyInputWeight);

/** What it costs to pay for a transaction by itself. */
const lackAlone = ({ virtualBytes, commit, fee, wantedRate: rate }: WaitingParent): bigint =>
  feeAt(virtualBytes + (commit?.virtualBytes ?? 0) + childBytes, rate) - fee - (commit?.fee ?? 0n);

/**
 * Those that one child can pay for together, within what may depend on each other. Together are: reveals of one
 * unconfirmed commit, which depend on each other anyway; and transactions in the mempool that are to pay the same. By
 * themselves are those that the mempool does not have, as packages of two travel furthest; those whose output holds money of
 * a customer; and those of orders that cannot bear it. Pure.
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

/** In as few groups as fit, first come first. */
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
