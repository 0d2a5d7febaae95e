import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import { type PartnerAccount, partnerAccounts } from '#purse/ledger/ledger.ts';
import { recipientsMax } from './plan-payout.ts';

/** A partner, identified by its account and its owner: the code of a referral or the address of a creator. */
export interface PartnerName {
  readonly account: PartnerAccount;
  readonly owner: string;
}

/** The sats of a partner, from the ledger and payouts. */
export interface PartnerBalance extends PartnerName {
  /** The partner's Bitcoin address, or null if the code was never registered. */
  readonly address: string | null;
  /** The script of the address. Null if there is no address, or if it is not an address of the network. */
  readonly script: Uint8Array | null;
  /** Sats earned by deliveries, deep or not. */
  readonly earned: bigint;
  /** The part of `earned` from deliveries that are deep. */
  readonly deep: bigint;
  /** Sats paid by transactions that are in blocks. */
  readonly paid: bigint;
  /** Shares in payouts that are not in a block. */
  readonly open: bigint;
}

/** The amounts that are due to a partner, in sats. All amounts are at least 0. */
export interface PartnerStanding extends PartnerBalance {
  /** Sats that were earned, but are neither paid nor in a payout. */
  readonly owed: bigint;
  /** The part of `owed` that the next payout pays. */
  readonly payable: bigint;
  /** The part of `owed` from deliveries that are not deep yet. */
  readonly shallow: bigint;
  /** The part of `owed` that is below the dust limit of the partner's address. */
  readonly dust: bigint;
  /** The part of `owed` that cannot be paid, because the partner has no address that may be paid. */
  readonly homeless: bigint;
  /** Sats that were paid for deliveries that a reorganisation undid. They are deducted from the next payout. */
  readonly debt: bigint;
}

/**
 * Computes the debt to each partner, and the part of the debt that can be paid now. Partners of the same kind with the
 * same address share an output, so the dust limit applies to the sum of their shares. Pure.
 *
 * @param refused scripts that must not be paid, in hex
 */
export function partnerStandings(
  balances: readonly PartnerBalance[],
  refused: ReadonlySet<string> = new Set(),
): PartnerStanding[] {
  const due = new Map(balances.map((each) => [each, dueOf(each)]));
  const together = new Map<string, bigint>();
  for (const [each, { ready }] of due) {
    if (each.script === null) continue;
    const output = outputOf(each.account, each.script);
    together.set(output, (together.get(output) ?? 0n) + ready);
  }
  return balances.map((each) => {
    const { left, ready } = due.get(each) ?? dueOf(each);
    const owed = largest(left, 0n);
    const { account, script } = each;
    const isHomeless = script === null || refused.has(hexOf(script));
    const isDust =
      script !== null && (together.get(outputOf(account, script)) ?? 0n) < BigInt(dustOf(script));
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

/**
 * Computes the unpaid earnings of a partner in sats (`left`), and the part from deep deliveries (`ready`). `left` is
 * negative if the partner has a debt, and `ready` is then 0. Otherwise `ready` is at most `left`.
 */
function dueOf({ earned, deep, paid, open }: PartnerBalance): {
  readonly left: bigint;
  readonly ready: bigint;
} {
  const left = earned - paid - open;
  const ready = deep - paid - open;
  return { left, ready: largest(ready < left ? ready : left, 0n) };
}

/** A payout to partners of one kind, before it is stored. */
export interface PartnerPayout {
  readonly kind: PartnerAccount;
  readonly shares: readonly PayoutShare[];
}

/**
 * Divides everything that can be paid into payouts. Each payout pays partners of one kind, and at most `most`
 * addresses, so that nodes relay its transaction. Partners with the same address stay in the same payout. Pure.
 */
export function payoutsOf(standings: readonly PartnerStanding[], most = recipientsMax): PartnerPayout[] {
  return partnerAccounts.flatMap((kind) =>
    batchesOf(
      standings.filter(({ account }) => account === kind),
      most,
    ).map((shares) => ({ kind, shares })),
  );
}

function batchesOf(standings: readonly PartnerStanding[], most: number): PayoutShare[][] {
  const shares = standings.flatMap(({ account, owner, address, script, payable }): PayoutShare[] =>
    address === null || script === null || payable === 0n
      ? []
      : [{ account, owner, script, address, sats: payable }],
  );
  const byScript = [...Map.groupBy(shares, ({ script }) => hexOf(script)).values()];
  return Array.from({ length: Math.ceil(byScript.length / most) }, (_, nth) =>
    byScript.slice(nth * most, (nth + 1) * most).flat(),
  );
}

/** Identifies the output of a script. Partners of one kind with the same script share this output. */
const outputOf = (account: PartnerAccount, script: Uint8Array): string => `${account} ${hexOf(script)}`;

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
