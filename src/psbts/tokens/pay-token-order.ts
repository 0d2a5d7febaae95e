import type { Asker } from '#kernel/contracts/asker.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { BuiltPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { feeRateFor, feeRateWarnings, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { whyOwn } from '#psbts/coins/why-own.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import type { OpenTokenOrder } from '#tokenpay/open-token-order.ts';
import { buildTokenPsbt } from './build-token-psbt.ts';
import { planTokenPayment, type TokenPayment, tokenPaymentFrame } from './plan-token-payment.ts';
import { runeIdOf, runeInputs } from './rune-inputs.ts';

export interface TokenPaymentRequest {
  readonly open: OpenTokenOrder;
  readonly signers: Signers;
  /** Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate. */
  readonly feeRate: bigint | null;
}

/**
 * Makes a PSBT that pays the missing parts of a shop's order in one transaction. The runes come from the ordinals
 * address, and the fee comes from the payment address. All other contents of the inputs return. Refuses with a reason
 * if this is not possible. Throws `coins_unproven`, and the codes of the services that it uses.
 */
export async function payTokenOrder(
  parts: CoinParts,
  { open, signers, feeRate: asked }: TokenPaymentRequest,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const standing = await nodeFeesOf(parts.node).standing();
  const feeRate = feeRateFor(asked, standing);
  if (typeof feeRate !== 'bigint') return feeRate;
  const wrong = whyNotPayable(open) ?? (await whyOwn(parts, signers));
  if (wrong !== null) return wrong;
  const payment = await paymentOf(parts, { open, signers }, feeRate, asker);
  if ('kind' in payment) return payment;
  const { inputs } = payment;
  return buildTokenPsbt(
    parts,
    {
      signers,
      inputs,
      frame: tokenPaymentFrame(payment),
      plan: (chosen) => planTokenPayment(payment, chosen),
      feeRate,
      warnings: feeRateWarnings(feeRate, standing),
    },
    asker,
  );
}

/** Checks the order for reasons that can be found without reading coins. */
function whyNotPayable({ order, missing }: OpenTokenOrder): PsbtRefusal | null {
  if (order.state !== 'pending')
    return refusedPsbt(`orderId: the order has ended (${order.state}) and accepts no more money.`, 'orderId');
  const { fee, token } = missing;
  if (fee.seen !== null || token.seen !== null)
    return refusedPsbt(
      'orderId: a payment of the order was already seen. Wait until it is confirmed, because only then the missing part is known.',
      'orderId',
    );
  if (order.expiresAt.getTime() <= Date.now())
    return refusedPsbt('orderId: the time for payment of the order is over.', 'orderId');
  return null;
}

async function paymentOf(
  parts: CoinParts,
  { open: { order, missing }, signers }: Omit<TokenPaymentRequest, 'feeRate'>,
  feeRate: bigint,
  asker: Asker,
): Promise<TokenPayment | PsbtRefusal> {
  const { fee, token } = missing;
  const sats = fee.amount === 0n ? null : fee;
  if (token.amount === 0n) return { signers, inputs: [], runes: [], units: null, sats, feeRate };
  const name = parseSpacedRune(order.rune.name);
  if (name === null) throw new Error('the name of a stored rune is one');
  const found = await runeInputs(
    parts,
    signers.ordinals,
    { rune: name.rune, etching: order.rune.etching, amount: token.amount, taker: 'the order' },
    asker,
  );
  if (found.kind === 'refused') return found;
  const units = { id: runeIdOf(found.rune), amount: token.amount, script: token.script };
  return { signers, inputs: found.inputs, runes: found.runes, units, sats, feeRate };
}
