import { unreachable } from '#kernel/unreachable.ts';
import type { PaymentOutcome } from '#orders/paying/after-payment.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { PaymentLayout } from './payment-layout.ts';
import type { SeenPayment } from './wanted-payment.ts';

interface Judged {
  readonly kind: 'delivers';
  /** Sentences for the customer. */
  readonly warnings: readonly string[];
}

/** A payment, as it was laid out, and as its order would see it. */
interface TriedPayment {
  readonly layout: Pick<PaymentLayout, 'special' | 'deposits' | 'outputs' | 'pad' | 'charge'>;
  readonly seen: SeenPayment;
}

/** Judges how an order would end with a payment: refused where it would not do what was asked for. Pure. */
export function judgePayment(
  outcome: Exclude<PaymentOutcome, { kind: 'short' }>,
  payment: TriedPayment,
): Judged | PsbtRefusal {
  switch (outcome.kind) {
    case 'refunded':
      return refusedPsbt(
        `Nothing would be inscribed, and the payment refunded: ${outcome.reason}${payment.layout.special === null ? nameIt : ''}`,
      );
    case 'failed':
      return refusedPsbt(`The order could not be delivered with this payment: ${outcome.reason}`);
    case 'delivered':
      return judgeDelivery(outcome, payment);
    default:
      return unreachable(outcome);
  }
}

function judgeDelivery(
  { inscribed, parentsMissing, unconfirmed }: Extract<PaymentOutcome, { kind: 'delivered' }>,
  { layout, seen }: TriedPayment,
): Judged | PsbtRefusal {
  const [first] = inscribed;
  const [specialCoin] = seen.wanted.coins;
  if (layout.special !== null) {
    const isThere =
      first !== undefined &&
      first.coin?.outpoint === null &&
      first.coin.vout === specialCoin?.vout &&
      first.offset === 0n;
    if (!isThere) return refusedPsbt(elsewhere, 'specialSatsOutput');
  }
  const isGuessed = inscribed.some(({ coin, offset }) => {
    if (coin === null || coin.outpoint !== null) return false;
    return (seen.guessed.get(coin.vout) ?? []).some(({ start, end }) => offset >= start && offset < end);
  });
  // the sats decide there, and they are not known
  if (isGuessed) return refusedPsbt(onUnknown, 'specialSatsOutput');
  const warnings: string[] = [];
  if (parentsMissing.length > 0)
    warnings.push(
      `The order also waits for ${parentsMissing.length} of its parents: POST /create-parent-child-psbt sends them.`,
    );
  if (unconfirmed.length > 0)
    warnings.push(
      'A payment of the order that no block has yet is counted: if it is replaced, more is missing.',
    );
  return { kind: 'delivers', warnings };
}

const nameIt = ' Name the output that holds such a sat in specialSatsOutput.';
const elsewhere =
  'specialSatsOutput: with the payments that the order has already, its inscription would be on another sat than the one of this output. Pay what is missing without it, or make another order.';
const onUnknown =
  'specialSatsOutput: one of the inscriptions would be on a sat of a payment coin, and those are not known here. The special output must hold the postage of all of them from the special sat on.';
