import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { ChosenCoins, CoinFrame } from '#psbts/planning/choose-coins.ts';
import type { CoinOutcome, CoinSupply } from '#psbts/planning/coin-supply.ts';
import { signedWeight, weighedParts } from '#psbts/planning/input-weight.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import { notEnough, type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import type { PaymentLayout } from './payment-layout.ts';

/** A payment that can be signed. */
export interface PlannedPayment<Coin extends PsbtInput> {
  readonly kind: 'planned';
  readonly plan: PsbtPlan;
  /** Coins that pay, in the sequence of their inputs. */
  readonly coins: readonly Coin[];
  readonly overpaid: bigint;
}

/**
 * Chooses coins for a layout and plans the transaction. Coins come after all other inputs, so that the fee uses only
 * sats of coins. A coin that adds sats before a special sat comes in front of the special output. Rejects like the
 * supply.
 */
export async function planPayment<Coin extends PsbtInput>(
  layout: PaymentLayout,
  supply: CoinSupply<Coin>,
  signers: Signers,
  feeRate: bigint,
): Promise<PlannedPayment<Coin> | PsbtRefusal | Extract<CoinOutcome<Coin>, { kind: 'unproven' }>> {
  const frame = frameOf(layout, signers, feeRate);
  const chosen = await supply.choose(frame);
  if (chosen.kind === 'unproven') return chosen;
  if (chosen.kind !== 'chosen') return notEnough(chosen);
  const padding = layout.pad === 0n ? null : await supply.at(chosen.coins.length);
  const dust = BigInt(dustOf(signers.payment.script));
  if (layout.pad > 0n && (padding === null || padding.value - layout.pad < dust))
    return refusedPsbt(needsPadding(layout.pad, dust), 'specialSatsOutput');
  const plan = assembled(layout, padding, chosen, signers);
  assert(plan.fee === chosen.fee, 'a plan pays the fee that its coins were chosen for');
  assert(
    feeOf(signedWeight(weighedParts(plan.inputs, plan.outputs)), feeRate) === plan.fee - chosen.overpaid,
    'a plan pays the rate that was asked for',
  );
  // asserts that the special output never pays miners, because the customer named it for one of its sats
  const firstCoin = plan.inputs.length - chosen.coins.length;
  assert(
    plan.feeParts.every(({ input }) => input >= firstCoin),
    'fees are sats of coins',
  );
  return {
    kind: 'planned',
    plan,
    coins: padding === null ? chosen.coins : [padding, ...chosen.coins],
    overpaid: chosen.overpaid,
  };
}

/**
 * The part of a transaction that is the same for any coins. The coin in front of the special output is returned as
 * change, so its value is not counted.
 */
function frameOf(layout: PaymentLayout, { payment }: Signers, feeRate: bigint): CoinFrame {
  const { parents, special, pad, deposits, outputs } = layout;
  const padding = pad === 0n ? [] : [{ value: pad, signer: payment }];
  return {
    inputs: [...parents.map(({ input }) => input), ...padding, ...(special === null ? [] : [special.input])],
    outputs: [...deposits, ...padding.map(() => ({ value: 0n, script: payment.script })), ...outputs],
    payer: payment,
    feeRate,
  };
}

function assembled(
  { parents, special, pad, deposits, outputs }: PaymentLayout,
  padding: PsbtInput | null,
  chosen: ChosenCoins<PsbtInput>,
  { payment }: Signers,
): PsbtPlan {
  const change = (value: bigint): PsbtOutput[] =>
    value === 0n ? [] : [{ script: payment.script, value, purpose: 'change' }];
  return psbtPlan({
    inputs: [
      ...parents.map(({ input }) => input),
      ...(padding === null ? [] : [padding]),
      ...(special === null ? [] : [special.input]),
      ...chosen.coins,
    ],
    outputs: [
      ...deposits,
      ...(padding === null ? [] : change(padding.value - pad)),
      ...outputs,
      ...change(chosen.change),
    ],
  });
}

const needsPadding = (pad: bigint, dust: bigint): string =>
  `specialSatsOutput: there are ${pad} sats before its special sat, too few for an output that nodes relay, and no payment coin of at least ${pad + dust} sats is left to add to them. Send one more coin to the payment address, or extract the sat first (POST /satextractor/extract).`;
