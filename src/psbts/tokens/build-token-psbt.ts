import type { Asker } from '#kernel/contracts/asker.ts';
import { askDataCarrier, whyNotCarried } from '#psbts/burning/data-carrier.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins, type PaymentCoin } from '#psbts/coins/free-coins.ts';
import { payingCoins } from '#psbts/coins/paying-coins.ts';
import type { ChosenCoins, CoinFrame } from '#psbts/planning/choose-coins.ts';
import type { PsbtInput, PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';

/** A transaction with runes. Coins of the payment address pay its fee. */
export interface TokenTransaction {
  readonly signers: Signers;
  /** Outputs with runes. Their sats do not pay the fee. */
  readonly inputs: readonly PsbtInput[];
  /** The frame for selecting coins. */
  readonly frame: CoinFrame;
  readonly plan: (chosen: ChosenCoins<PaymentCoin>) => PsbtPlan;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  readonly warnings: readonly string[];
}

/**
 * Makes the PSBT of a transaction with runes. Refuses if there are too few coins, or if nodes do not relay its
 * runestone.
 */
export async function buildTokenPsbt(
  parts: CoinParts,
  { signers, inputs, frame, plan: planWith, feeRate, warnings }: TokenTransaction,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const coins = await freeCoins(parts, signers.payment, asker, inputs);
  const chosen = payingCoins(await coins.supply.choose(frame));
  if (chosen.kind === 'refused') return chosen;
  const plan = planWith(chosen);
  const notCarried = whyNotCarried(plan.outputs, await askDataCarrier(parts.node));
  if (notCarried !== null) return refusedPsbt(notCarried);
  return buildPsbt(parts.node, plan, { feeRate, warnings, unproven: [...coins.unproven] });
}
