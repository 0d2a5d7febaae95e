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

/** A burn that burns the first sats of an output. Amounts are in sats. */
export interface Burn {
  /** The output with the inscription at its first sat. */
  readonly utxo: PsbtInput;
  /** Runes in the burned output. */
  readonly runes: readonly RuneAmount[];
  readonly signers: Signers;
  /** Begins with OP_RETURN. */
  readonly script: Uint8Array;
  readonly burnAmount: bigint;
  /** Minimum amount for the payment address. */
  readonly changeAmount: bigint;
}

/**
 * Outputs before the change. Runes go to the first output that is not an OP_RETURN. If the output has runes and the
 * addresses differ, an output of dust at the ordinals address receives the runes.
 */
function outputsBefore({ runes, signers, script, burnAmount }: Burn): PsbtOutput[] {
  const burned = { script, value: burnAmount, purpose: 'burn' } as const;
  const { ordinals, payment } = signers;
  if (runes.length === 0 || isSame(ordinals.script, payment.script)) return [burned];
  return [burned, { script: ordinals.script, value: BigInt(dustOf(ordinals.script)), purpose: 'ordinals' }];
}

/**
 * Compares the sats that remain for the fee (`rest`) with the fee that the burn needs without coins (`needed`). `rest`
 * is negative if the output cannot even pay the change.
 */
export function bareBurn(burn: Burn, feeRate: bigint): { readonly rest: bigint; readonly needed: bigint } {
  const outputs = [...outputsBefore(burn), changeOf(burn, burn.changeAmount)];
  return {
    rest: burn.utxo.value - valueOf(outputs),
    needed: feeOf(signedWeight(weighedParts([burn.utxo], outputs)), feeRate),
  };
}

/** The frame for selecting coins of the payment address. Needed only if the output does not pay for its own burn. */
export const burnFrame = (burn: Burn, feeRate: bigint): CoinFrame => ({
  inputs: [burn.utxo],
  outputs: outputsBefore(burn),
  payer: burn.signers.payment,
  changeLeast: burn.changeAmount,
  feeRate,
});

/**
 * Plans the transaction of a burn. The output is the first input, so its first sats are burned and its runes return.
 * Coins follow, and the last sats of the last coin are the fee.
 *
 * @param coins coins that pay the rest of the fee. Empty if the output pays for itself: then the fee is everything that
 *   it has beyond the outputs.
 * @param change sats for the payment address
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
