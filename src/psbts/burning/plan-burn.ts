import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { CoinFrame } from '#psbts/planning/choose-coins.ts';
import { signedWeight, weighedParts } from '#psbts/planning/input-weight.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { requireRunesAt } from './rune-output.ts';

/** A burn whose output is spent from its first sat on. Amounts are sats. */
export interface Burn {
  /** The output with the inscription at its first sat. */
  readonly utxo: PsbtInput;
  /** Runes in that output. */
  readonly runes: readonly RuneAmount[];
  readonly signers: Signers;
  /** Begins with OP_RETURN. */
  readonly script: Uint8Array;
  readonly burnAmount: bigint;
  /** The least amount for the payment address. */
  readonly changeAmount: bigint;
}

/**
 * Outputs before the change. Runes go to the first output that is not an OP_RETURN. If there are runes, that is an
 * output of dust at the ordinals address.
 */
function outputsBefore({ runes, signers, script, burnAmount }: Burn): PsbtOutput[] {
  const burned = { script, value: burnAmount, purpose: 'burn' } as const;
  const { ordinals, payment } = signers;
  if (runes.length === 0 || isSame(ordinals.script, payment.script)) return [burned];
  return [burned, { script: ordinals.script, value: BigInt(dustOf(ordinals.script)), purpose: 'ordinals' }];
}

/**
 * Whether the output pays for its own burn, and the fee without coins; negative: its sats do not even pay the change.
 */
export function bareBurn(burn: Burn, feeRate: bigint): { readonly rest: bigint; readonly needed: bigint } {
  const outputs = [...outputsBefore(burn), changeOf(burn, burn.changeAmount)];
  return {
    rest: burn.utxo.value - valueOf(outputs),
    needed: feeOf(signedWeight(weighedParts([burn.utxo], outputs)), feeRate),
  };
}

/** The frame for coins of the payment address, if the output does not pay for its own burn. */
export const burnFrame = (burn: Burn, feeRate: bigint): CoinFrame => ({
  inputs: [burn.utxo],
  outputs: outputsBefore(burn),
  payer: burn.signers.payment,
  changeLeast: burn.changeAmount,
  feeRate,
});

/**
 * The transaction of a burn. The output is the first input, so that its first sats are burned and its runes return.
 * Then come coins, whose last sats are the fee.
 *
 * @param coins none if the output pays for itself: then the fee is everything that it has beyond `changeAmount` @param
 * change sats for the payment address
 */
export function planBurn(burn: Burn, coins: readonly PsbtInput[], change = burn.changeAmount): PsbtPlan {
  assert(change >= burn.changeAmount, 'the payment address gets what was asked for');
  const plan = psbtPlan({
    inputs: [burn.utxo, ...coins],
    outputs: [...outputsBefore(burn), changeOf(burn, change)],
  });
  requireRunesAt(plan, burn.signers.ordinals, burn.runes);
  return plan;
}

const changeOf = ({ signers }: Burn, value: bigint): PsbtOutput => ({
  script: signers.payment.script,
  value,
  purpose: 'change',
});

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
