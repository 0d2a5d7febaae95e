import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import { recipientsMax } from './plan-payout.ts';

/** The sats of a code by ledger and payouts. */
export interface ReferralBalance {
  readonly code: string;
  /** Null: the code was never registered. */
  readonly address: string | null;
  readonly script: Uint8Array | null;
  /** Earned by deliveries, deep or not. */
  readonly earned: bigint;
  /** Its part by deliveries that are deep. */
  readonly deep: bigint;
  /** Paid by transactions that blocks have. */
  readonly paid: bigint;
  /** In payouts that no block has. */
  readonly open: bigint;
}

/** The standing of a code, in sats. Each is at least 0. */
export interface ReferralStanding extends ReferralBalance {
  /** Earned, and neither paid nor in a payout. */
  readonly owed: bigint;
  /** Its part that the next payout pays. */
  readonly payable: bigint;
  /** Its part by deliveries that are not deep yet. */
  readonly shallow: bigint;
  /** Its part that is below the dust limit of its address. */
  readonly dust: bigint;
  /** Its part without an address where it may go. */
  readonly homeless: bigint;
  /** Paid for deliveries that a reorganisation took back: it counts against the next payout. */
  readonly debt: bigint;
}

/**
 * Says what is owed to each code, and what of it can be paid now. Codes with one address are paid with one output, so what they
 * get together decides about dust. Pure.
 *
 * @param refused scripts that no money may go to, in hex
 */
export function referralStandings(
  balances: readonly ReferralBalance[],
  refused: ReadonlySet<string> = new Set(),
): ReferralStanding[] {
  const due = new Map(balances.map((each) => [each, dueOf(each)]));
  const together = new Map<string, bigint>();
  for (const [each, { ready }] of due) {
    if (each.script !== null)
      together.set(hexOf(each.script), (together.get(hexOf(each.script)) ?? 0n) + ready);
  }
  return balances.map((each) => {
    const { left, ready } = due.get(each) ?? dueOf(each);
    const owed = largest(left, 0n);
    const { script } = each;
    const isHomeless = script === null || refused.has(hexOf(script));
    const isDust = script !== null && (together.get(hexOf(script)) ?? 0n) < BigInt(dustOf(script));
    return {
      ...each,
      owed,
      payable: isHomeless || isDust ? 0n : ready,
      shallow: owed - ready,
      dust: !isHomeless && isDust ? ready : 0n,
      homeless: isHomeless ? ready : 0n,
      debt: left < 0n ? -left : 0n,
    };
  });
}

/** Sats that are left of what a code earned, and the deep part of them, which is at most all of them. */
function dueOf({ earned, deep, paid, open }: ReferralBalance): {
  readonly left: bigint;
  readonly ready: bigint;
} {
  const left = earned - paid - open;
  const ready = deep - paid - open;
  return { left, ready: largest(ready < left ? ready : left, 0n) };
}

/**
 * The shares of each payout: of a bounded number of addresses, so that its transaction is relayed. Codes with one address
 * stay together. Pure.
 */
export function payoutsOf(standings: readonly ReferralStanding[], most = recipientsMax): PayoutShare[][] {
  const shares = standings.flatMap(({ code, address, script, payable }): PayoutShare[] =>
    address === null || script === null || payable === 0n
      ? []
      : [{ account: 'referral', owner: code, script, address, sats: payable }],
  );
  const byScript = [...Map.groupBy(shares, ({ script }) => hexOf(script)).values()];
  return Array.from({ length: Math.ceil(byScript.length / most) }, (_, nth) =>
    byScript.slice(nth * most, (nth + 1) * most).flat(),
  );
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
