import assert from 'node:assert/strict';
import { atLeastDust, dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { ChosenCoins, CoinFrame } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';

/** Units of a rune that are sent to an address. */
export interface SentUnits {
  readonly id: RuneId;
  /** Base units to send. Must be above 0, because an edict of 0 would send all units. */
  readonly amount: bigint;
  readonly script: Uint8Array;
}

/** A payment in runes and sats. */
export interface TokenPayment {
  readonly signers: Signers;
  /** Outputs of the ordinals address with the rune. The list is empty if no units are sent. */
  readonly inputs: readonly PsbtInput[];
  /** All runes in these outputs. */
  readonly runes: readonly RuneAmount[];
  /** Units to send, or null if no units are sent. */
  readonly units: SentUnits | null;
  /** Sats to send, or null if no sats are sent. */
  readonly sats: { readonly amount: bigint; readonly script: Uint8Array } | null;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/**
 * Outputs before the change. All sats of the runes' inputs return to the ordinals address first, so no special sat is
 * lost. The pointer returns all units that are not sent with these sats. There is one OP_RETURN output, because nodes
 * relay only one.
 */
function outputsOf({ signers: { ordinals }, inputs, units, sats }: TokenPayment): PsbtOutput[] {
  const paid: PsbtOutput[] =
    sats === null
      ? []
      : [{ script: sats.script, value: atLeastDust(sats.amount, sats.script), purpose: 'charge' }];
  if (units === null) return paid;
  const edict = { id: units.id, amount: asU128(units.amount), output: 1 };
  const runestone = encipher(routeRunestone({ edicts: [edict], pointer: 0 }));
  return [
    { script: ordinals.script, value: atLeastDust(valueOf(inputs), ordinals.script), purpose: 'ordinals' },
    { script: units.script, value: BigInt(dustOf(units.script)), purpose: 'charge' },
    ...paid,
    { script: runestone, value: 0n, purpose: 'runestone' },
  ];
}

/** The frame for selecting coins of the payment address. */
export const tokenPaymentFrame = (payment: TokenPayment): CoinFrame => ({
  inputs: payment.inputs,
  outputs: outputsOf(payment),
  payer: payment.signers.payment,
  feeRate: payment.feeRate,
});

/**
 * Plans the transaction of a payment. Asserts that each unit goes to its receiver according to the protocol rules.
 * Pure.
 */
export function planTokenPayment(payment: TokenPayment, chosen: ChosenCoins<PsbtInput>): PsbtPlan {
  const { script } = payment.signers.payment;
  const change: PsbtOutput[] =
    chosen.change === 0n ? [] : [{ script, value: chosen.change, purpose: 'change' }];
  const plan = psbtPlan({
    inputs: [...payment.inputs, ...chosen.coins],
    outputs: [...outputsOf(payment), ...change],
  });
  assert(plan.fee === chosen.fee, 'a plan pays the fee that its coins were chosen for');
  requireUnits(plan, payment);
  return plan;
}

function requireUnits({ outputs }: PsbtPlan, { runes, units }: TokenPayment): void {
  const { given, burned } = runeFlow(outputs, runes);
  assert(burned.length === 0, 'a payment burns no runes');
  const sent = given.filter(({ output }) => output !== 0);
  assert(
    units === null ? given.length === 0 : sent.length === 1,
    'a payment sends units of one rune to one output',
  );
  if (units === null) return;
  const [only] = sent;
  assert(
    only?.output === 1 &&
      BigInt(only.amount) === units.amount &&
      only.id.tx === units.id.tx &&
      only.id.block === units.id.block,
    'a payment sends the units that were asked for to the address that was asked for',
  );
}
