import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { CoinFrame } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';

/** A child that pays for unconfirmed transactions. */
export interface Child {
  /** The unconfirmed output that it spends. */
  readonly target: PsbtInput;
  /** The version of the transaction that made it: version 3 binds its child too (BIP 431). */
  readonly version: PsbtPlan['version'];
  /** Sats for 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** Thousandths of a sat that it pays beyond its own size (`packageDeficit`). */
  readonly deficit: bigint;
}

/** The most virtual bytes of a child of version 3 (Bitcoin Core, policy/truc_policy.h, TRUC_CHILD_MAX_VSIZE). */
export const trucChildMax = 1_000;

/** The frame for coins of the payment address, which pay the part that the output cannot. */
export const childFrame = ({ target, feeRate, deficit }: Child): CoinFrame => ({
  inputs: [target],
  outputs: [],
  payer: target.signer,
  feeRate,
  feeBeyond: (deficit + 999n) / 1000n,
});

/** The child: the unconfirmed output, confirmed coins, and one output with the rest after the fee. */
export function planChild(
  { target, version }: Child,
  coins: readonly PsbtInput[],
  change: bigint,
): PsbtPlan | null {
  const outputs = [{ script: target.signer.script, value: change, purpose: 'change' }] as const;
  const plan = psbtPlan({ version, inputs: [target, ...coins], outputs });
  return version === 3 && virtualSize(plan.weight) > trucChildMax ? null : plan;
}
