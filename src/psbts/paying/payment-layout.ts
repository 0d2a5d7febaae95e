import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { largest, p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';
import type { PsbtInput, PsbtOutput } from '#psbts/planning/psbt-plan.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';

/** An output of the customer with the sat to inscribe. */
export interface SpecialInput {
  readonly input: PsbtInput;
  /** Number of sats of the output before that sat. */
  readonly place: bigint;
  /** All sats of the output, or null if they are unknown. */
  readonly ranges: readonly SatRange[] | null;
}

/** A parent that the transaction sends to its deposit address. */
export interface LentInput {
  /** Index of the parent among the parents of the order. */
  readonly index: number;
  readonly input: PsbtInput;
  readonly depositScript: Uint8Array;
  /** Runes in the parent's output. */
  readonly runes: readonly RuneAmount[];
}

/** The fields of an order that are needed for the layout of a payment. */
export type LaidOrder = Pick<
  OpenOrder,
  | 'script'
  | 'missing'
  | 'missingInTwo'
  | 'postage'
  | 'reveals'
  | 'costs'
  | 'allowedSatributes'
  | 'takesInventory'
>;

/**
 * The layout of a payment: its inputs and outputs in their sequence, without the coins that pay for it. Amounts are in
 * sats.
 */
export interface PaymentLayout {
  readonly kind: 'layout';
  readonly parents: readonly LentInput[];
  readonly special: SpecialInput | null;
  /**
   * Number of sats that a coin must add in front of the special output. The sats before the special sat would otherwise
   * be below dust. 0 if no such coin is needed.
   */
  readonly pad: bigint;
  readonly deposits: readonly PsbtOutput[];
  /** Outputs that follow the change of the coin in front. */
  readonly outputs: readonly PsbtOutput[];
  /** Sats that go to the address of the order. */
  readonly charge: bigint;
  /** Minimum sum of the outputs to the address of the order, in sats. */
  readonly needed: bigint;
}

/** A payment that a customer requests. */
export interface AskedPayment {
  readonly signers: Signers;
  readonly parents: readonly LentInput[];
  readonly special: SpecialInput | null;
  /** Sats for the address of the order. Null means the minimum that pays the order. */
  readonly charge: bigint | null;
}

const field = 'specialSatsOutput';

/**
 * Lays out a payment for an order. Parents go to their deposits first. Then come the special sat with the postage, and
 * the rest of the charge. All sats of the special output that are not postage return to the ordinals address. Pure.
 */
export function layOutPayment(order: LaidOrder, asked: AskedPayment): PaymentLayout | PsbtRefusal {
  const { special, parents, charge: given, signers } = asked;
  const deposits = parents.map(({ input, depositScript }): PsbtOutput => {
    return { script: depositScript, value: input.value, purpose: 'deposit' };
  });
  const base = { kind: 'layout', parents, special, pad: 0n, deposits } as const;
  const { missing } = order;
  if (special === null) {
    const charge = missing === 0n ? 0n : largest(missing, given ?? 0n);
    return { ...base, charge, needed: missing, outputs: charge === 0n ? [] : [chargeOutput(order, charge)] };
  }
  const paid = paidWithSpecial(order, special, given, signers);
  if (paid.kind === 'refused') return paid;
  const { place } = special;
  const dust = BigInt(dustOf(signers.ordinals.script));
  return {
    ...base,
    ...paid,
    kind: 'layout',
    pad: place > 0n && place < dust ? dust - place : 0n,
    outputs: [...returned(signers, place), ...paid.outputs],
  };
}

const chargeOutput = ({ script }: LaidOrder, value: bigint, purpose: 'charge' | 'postage' = 'charge') => ({
  script,
  value,
  purpose,
});

/** An output that returns sats to the ordinals address. If the sats are below dust, the sats after them are added. */
const returned = ({ ordinals: { script } }: Signers, value: bigint): PsbtOutput[] =>
  value === 0n ? [] : [{ script, value: largest(value, BigInt(dustOf(script))), purpose: 'ordinals' }];

type PaidPart = Pick<PaymentLayout, 'outputs' | 'charge' | 'needed'> & { readonly kind: 'paid' };

/** Lays out the outputs from the special sat on. */
function paidWithSpecial(
  order: LaidOrder,
  { input, place }: SpecialInput,
  given: bigint | null,
  signers: Signers,
): PaidPart | PsbtRefusal {
  const { missing, reveals, allowedSatributes } = order;
  if (order.takesInventory)
    return refusedPsbt(`${field}: the order is inscribed on sats of this service's inventory.`, field);
  const from = input.value - place;
  const asOne = largest(missing, given ?? 0n);
  // if several transactions inscribe, the distance between the inscribed sats is the cost of a transaction
  if (reveals.length > 1 && allowedSatributes !== null) {
    if (from < asOne) return refusedPsbt(tooShort(order, from, asOne), field);
    const outputs = [chargeOutput(order, asOne), ...returned(signers, from - asOne)];
    return { kind: 'paid', charge: asOne, needed: missing, outputs };
  }
  const postage = order.postage * BigInt(reveals[0] ?? 1);
  if (from <= postage) {
    const charge = largest(asOne, from);
    return { kind: 'paid', charge, needed: missing, outputs: [chargeOutput(order, charge)] };
  }
  return paidInTwo(order, { from, postage, given }, signers);
}

interface TwoCoins {
  /** Number of sats of the special output from the special sat to the end. */
  readonly from: bigint;
  readonly postage: bigint;
  readonly given: bigint | null;
}

/**
 * Lays out two outputs to the order: the special sat with its postage, and the rest of the charge. The remaining sats
 * of the special output return between them.
 */
function paidInTwo(
  order: LaidOrder,
  { from, postage, given }: TwoCoins,
  signers: Signers,
): PaidPart | PsbtRefusal {
  const { missingInTwo, costs, allowedSatributes } = order;
  if (missingInTwo === null) return refusedPsbt(oneCoinAlone(postage), field);
  // an output below dust would get the sats after it, and would then pay miners with these sats
  if (postage < p2trDust) return refusedPsbt(tooLittle(postage), field);
  if (allowedSatributes === null && postage <= costs.input)
    return refusedPsbt(tooDear(order, postage), field);
  const needed = largest(missingInTwo, postage + largest(p2trDust, costs.input + 1n));
  const charge = largest(needed, given ?? 0n);
  return {
    kind: 'paid',
    charge,
    needed,
    outputs: [
      chargeOutput(order, postage, 'postage'),
      ...returned(signers, from - postage),
      chargeOutput(order, charge - postage),
    ],
  };
}

const tooShort = ({ reveals }: LaidOrder, from: bigint, needed: bigint): string =>
  `${field}: the order makes ${reveals.length} transactions, and each inscribes an allowed sat, so one output must pay for all of them. From the special sat on, it must have ${needed} sats, but this output has only ${from}.`;

const oneCoinAlone = (postage: bigint): string =>
  `${field}: the order is too large to be paid in two outputs, but this output would give the postage and the charge separately. Send the special sat in an output that ends with it, or at most ${postage} sats after it.`;

const tooLittle = (postage: bigint): string =>
  `${field}: the postage of the order is ${postage} sats, but nodes relay at least ${p2trDust} sats to its address. Send the special sat in an output that ends at most ${postage} sats after it, or make an order with a higher postage.`;

const tooDear = ({ costs }: LaidOrder, postage: bigint): string =>
  `${field}: at the fee rate of the order, each output that pays for it costs ${costs.input} sats. This is more than its postage of ${postage}, so the order would not spend this sat. Make an order with a lower fee, a higher postage, or allowedSatributes.`;
