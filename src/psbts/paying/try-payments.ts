import type { Asker } from '#kernel/contracts/asker.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { afterPayment } from '#orders/paying/after-payment.ts';
import { type OpenOrder, withExtraCost } from '#orders/paying/open-order.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { type FreeCoins, type PaymentCoin, unprovenCoins } from '#psbts/coins/free-coins.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import { judgePayment } from './judge-payment.ts';
import { type AskedPayment, layOutPayment, type PaymentLayout } from './payment-layout.ts';
import { type PlannedPayment, planPayment } from './plan-payment.ts';
import { type InputRanges, type SeenPayment, seenPayment } from './wanted-payment.ts';

/** Maximum number of payments to try. Each try costs more than the try before. */
const triesMax = 5;

export interface Trial {
  readonly parts: Pick<CoinParts, 'utxos' | 'satributes'>;
  /** The order, with the sats of its coins if it requires certain sats. */
  readonly order: OpenOrder;
  readonly coins: Pick<FreeCoins, 'supply'>;
  readonly feeRate: bigint;
  readonly asker: Asker;
}

export interface TriedPayment {
  readonly kind: 'tried';
  readonly planned: PlannedPayment<PaymentCoin>;
  readonly layout: PaymentLayout;
  readonly warnings: readonly string[];
}

/**
 * Raises the charge until the order would be paid. The repetition is needed because the cost of the order's coins and
 * parents is known only after its delivery is planned. Throws `coins_unproven`, and the codes of UtxoReader.
 */
export async function tryPayments(trial: Trial, wanted: AskedPayment): Promise<TriedPayment | PsbtRefusal> {
  const { parts, coins, feeRate } = trial;
  let { order } = trial;
  let { charge } = wanted;
  for (let tries = 0; tries < triesMax; tries++) {
    const layout = layOutPayment(order, { ...wanted, charge });
    if (layout.kind === 'refused') return layout;
    const planned = await planPayment(layout, coins.supply, wanted.signers, feeRate);
    if (planned.kind === 'unproven') throw unprovenCoins(planned.reason);
    if (planned.kind === 'refused') return planned;
    const seen = await seenBy(trial, planned, layout);
    const outcome = afterPayment(order, seen.wanted, parts.satributes);
    if (outcome.kind === 'short') {
      // from this cost, the exact minimum charge is computed in the next try
      if (outcome.extraCost > order.costs.extraCost) order = withExtraCost(order, outcome.extraCost);
      else charge = layout.charge + outcome.missing;
      continue;
    }
    const judged = judgePayment(outcome, { layout, seen });
    if (judged.kind === 'refused') return judged;
    // sats for the extra cost of the order, which the tries found, are not too much
    const beyond = charge === wanted.charge ? layout.charge - layout.needed : 0n;
    const warnings = [...judged.warnings, ...amountWarnings(planned.overpaid, beyond, order)];
    return { kind: 'tried', planned, layout, warnings };
  }
  return refusedPsbt(
    'Each additional coin that pays for the order makes the order more expensive. Pay it in one output.',
  );
}

function amountWarnings(overpaid: bigint, beyond: bigint, { hasRefundAddress }: OpenOrder): string[] {
  const warnings: string[] = [];
  if (overpaid > 0n)
    warnings.push(
      `The fee is ${overpaid} sats above its rate. These sats are too few for change, and no other coin helps.`,
    );
  if (beyond >= p2trDust)
    warnings.push(
      `chargeAmount is ${beyond} sats more than the order needs. ${hasRefundAddress ? 'These sats are refunded, less a fee' : 'The order has no refundAddress, so these sats wait for the operator'}.`,
    );
  return warnings;
}

/**
 * The payment as its order would see it. If the order requires certain sats, the payment has the sats that it would
 * send.
 */
async function seenBy(
  { parts, order, asker }: Trial,
  { plan, coins }: PlannedPayment<PaymentCoin>,
  { special, parents }: PaymentLayout,
): Promise<SeenPayment> {
  if (order.allowedSatributes === null) return seenPayment(plan, order.script, null, parents);
  const known = await parts.utxos.indexedSats(
    coins.map(({ listed }) => listed),
    asker,
  );
  const byInput = new Map<unknown, readonly SatRange[]>(
    coins.flatMap((coin, place) => {
      const ranges = known?.[place] ?? 'unknown';
      return ranges === 'unknown' ? [] : [[coin, ranges] as const];
    }),
  );
  const ranges: InputRanges = plan.inputs.map((input) =>
    input === special?.input ? special.ranges : (byInput.get(input) ?? null),
  );
  return seenPayment(plan, order.script, ranges, parents);
}
