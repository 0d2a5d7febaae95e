import { unreachable } from '#kernel/unreachable.ts';
import type { InscribedSat, PaymentOutcome } from '#orders/paying/after-payment.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { PaymentLayout } from './payment-layout.ts';
import type { SeenPayment } from './wanted-payment.ts';

interface Judged {
  readonly kind: 'delivers';
  /** Sentences for the customer. */
  readonly warnings: readonly string[];
}

/** A payment: its layout, and the outputs that its order would see. */
interface TriedPayment {
  readonly layout: Pick<PaymentLayout, 'special' | 'charge' | 'needed'>;
  readonly seen: SeenPayment;
}

/** Judges the outcome of an order after a payment. Refuses if the outcome is not what the customer requested. Pure. */
export function judgePayment(
  outcome: Exclude<PaymentOutcome, { kind: 'short' }>,
  payment: TriedPayment,
): Judged | PsbtRefusal {
  switch (outcome.kind) {
    case 'refunded':
      return refusedPsbt(
        `Nothing would be inscribed, and the payment would be refunded: ${outcome.reason}${payment.layout.special === null ? nameIt : ''}`,
      );
    case 'failed':
      return refusedPsbt(`The order could not be delivered with this payment: ${outcome.reason}`);
    case 'delivered':
      return judgeDelivery(outcome, payment);
    default:
      return unreachable(outcome);
  }
}

type Delivery = Extract<PaymentOutcome, { kind: 'delivered' }>;

function judgeDelivery(delivery: Delivery, payment: TriedPayment): Judged | PsbtRefusal {
  const wrong = whyElsewhere(delivery, payment);
  if (wrong !== null) return wrong;
  const { parentsMissing, unconfirmed } = delivery;
  const warnings: string[] = [];
  if (parentsMissing.length > 0)
    warnings.push(
      `The order also waits for ${parentsMissing.length} of its parents. Send them with POST /create-parent-child-psbt.`,
    );
  if (unconfirmed.length > 0)
    warnings.push(
      'A payment that is not in a block yet is counted. If it is replaced, more sats are missing.',
    );
  return { kind: 'delivers', warnings };
}

/** Explains why an inscription would not be on the requested sat. Returns null if it would be. */
function whyElsewhere({ spent, inscribed }: Delivery, { layout, seen }: TriedPayment): PsbtRefusal | null {
  const { special, charge, needed } = layout;
  const [specialCoin] = seen.wanted.coins;
  if (special !== null && !isAtFirst(inscribed[0], specialCoin?.vout)) {
    const isAlone = spent.length === 1 && spent[0]?.outpoint === null;
    return isAlone && charge > needed
      ? refusedPsbt(paidWithout(charge, needed), 'chargeAmount')
      : refusedPsbt(elsewhere, 'specialSatsOutput');
  }
  const isGuessed = inscribed.some(({ coin, offset }) => {
    if (coin === null || coin.outpoint !== null) return false;
    return (seen.guessed.get(coin.vout) ?? []).some(({ start, end }) => offset >= start && offset < end);
  });
  // the sats decide whether the inscription is on an allowed sat, and they are unknown
  return isGuessed ? refusedPsbt(onUnknown, 'specialSatsOutput') : null;
}

/** Whether an inscription is on the first sat of this output of the payment. */
const isAtFirst = (inscribed: InscribedSat | undefined, vout: number | undefined): boolean =>
  inscribed?.coin?.outpoint === null && inscribed.coin.vout === vout && inscribed.offset === 0n;

const nameIt = 'Name the output with such a sat in specialSatsOutput.';
const elsewhere =
  'specialSatsOutput: with the payments that the order already has, its inscription would be on a sat of another output. Pay the missing sats without specialSatsOutput, or make another order.';
const paidWithout = (charge: bigint, needed: bigint): string =>
  `chargeAmount: with ${charge} sats the order would be paid without specialSatsOutput, and would not spend that output. The order needs only ${needed} sats, so send no more.`;
const onUnknown =
  'specialSatsOutput: one of the inscriptions would be on a sat of a payment coin, but the sats of this coin are unknown here. From its special sat on, the output must have at least the postage of all inscriptions.';
