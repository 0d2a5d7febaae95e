import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { CoinFrame } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';

/** A child that pays for unconfirmed transactions. */
export interface Child {
  /** The unconfirmed output that the child spends. */
  readonly target: PsbtInput;
  /**
   * Version of the child. A child of a version 3 transaction also has version 3, because the rules of this version bind
   * children, too (BIP 431).
   */
  readonly version: PsbtPlan['version'];
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** Fee in addition to the fee for the child's own size, in thousandths of a sat (`packageDeficit`). */
  readonly deficit: bigint;
}

/** Maximum size of a version 3 child in virtual bytes (Bitcoin Core, policy/truc_policy.h, TRUC_CHILD_MAX_VSIZE). */
export const trucChildMax = 1_000;

/**
 * The frame for selecting coins of the payment address. The coins pay the part of the fee that the output cannot pay.
 */
export const childFrame = ({ target, feeRate, deficit }: Child): CoinFrame => ({
  inputs: [target],
  outputs: [],
  payer: target.signer,
  feeRate,
  feeBeyond: (deficit + 999n) / 1000n,
});

/**
 * Plans the child. It spends the unconfirmed output and confirmed coins, and has one output with the sats that remain
 * after the fee.
 */
export function planChild(
  { target, version }: Child,
  coins: readonly PsbtInput[],
  change: bigint,
): PsbtPlan | null {
  const outputs = [{ script: target.signer.script, value: change, purpose: 'change' }] as const;
  const plan = psbtPlan({ version, inputs: [target, ...coins], outputs });
  return version === 3 && virtualSize(plan.weight) > trucChildMax ? null : plan;
}
