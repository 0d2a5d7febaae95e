import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins } from '#psbts/coins/free-coins.ts';
import { feeRateFor, feeRateWarnings, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { whyOwn } from '#psbts/coins/why-own.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { lentParents } from './lent-parents.ts';
import { withSats } from './paid-sats.ts';
import type { AskedPayment } from './payment-layout.ts';
import { specialOutput } from './special-output.ts';
import { tryPayments } from './try-payments.ts';

/** A request for a PSBT that pays an order. */
export interface PaymentRequest {
  readonly order: OpenOrder;
  readonly signers: Signers;
  /** Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate. */
  readonly feeRate: bigint | null;
  /** The output with the sat to inscribe. Null means that any sats may be inscribed. */
  readonly special: Outpoint | null;
  /** Sats for the address of the order. Null means the minimum that pays the order. */
  readonly charge: bigint | null;
  /** Whether the transaction also sends the parents that the order waits for. */
  readonly sendsParents: boolean;
}

export interface BuiltPayment extends BuiltPsbt {
  /** Sats for the address of the order. */
  readonly charge: bigint;
}

/**
 * Makes a PSBT that pays for an order. The payment was tried: with this transaction, the order would be paid, and the
 * requested sat would be inscribed. Refuses with the reason if this is not the case. Throws `coins_unproven`, and the
 * codes of the services that it uses.
 */
export async function payOrder(
  parts: CoinParts,
  request: PaymentRequest,
  asker: Asker,
): Promise<BuiltPayment | PsbtRefusal> {
  const { signers, charge } = request;
  const standing = await nodeFeesOf(parts.node).standing();
  const feeRate = feeRateFor(request.feeRate, standing);
  if (typeof feeRate !== 'bigint') return feeRate;
  const wrong = whyNotPayable(request) ?? (await whyOwn(parts, signers));
  if (wrong !== null) return wrong;
  const named = await namedInputs(parts, request, asker);
  if (named.kind === 'refused') return named;
  const { special, parents, unproven } = named;
  const inputs = special === null ? parents : [...parents, special];
  const except = inputs.map(({ input }) => input);
  const coins = await freeCoins(parts, signers.payment, asker, except);
  const order = await withSats(parts.utxos, request.order, asker);
  const trial = { parts, order, coins, feeRate, asker };
  const tried = await tryPayments(trial, { signers, special, parents, charge });
  if (tried.kind === 'refused') return tried;
  const { planned, layout } = tried;
  const warnings = [...tried.warnings, ...feeRateWarnings(feeRate, standing)];
  const texts = { feeRate, warnings, unproven: [...coins.unproven, ...unproven] };
  return { ...(await buildPsbt(parts.node, planned.plan, texts)), charge: layout.charge };
}

type NamedInputs = Pick<AskedPayment, 'special' | 'parents'> & {
  readonly kind: 'named';
  readonly unproven: readonly string[];
};

/** Reads the inputs that are spent because of their contents: the special output and the parents. */
async function namedInputs(
  parts: CoinParts,
  { order, signers: { ordinals }, special: outpoint, sendsParents }: PaymentRequest,
  asker: Asker,
): Promise<NamedInputs | PsbtRefusal> {
  const lent = sendsParents ? await lentParents(parts, order, ordinals, asker) : noParents;
  if (lent.kind === 'refused') return lent;
  const { parents } = lent;
  if (outpoint === null) return { kind: 'named', special: null, parents, unproven: [] };
  const found = await specialOutput(parts, order, ordinals, outpoint, asker);
  if (found.kind === 'refused') return found;
  return { kind: 'named', special: found.special, parents, unproven: found.unproven };
}

const noParents = { kind: 'parents', parents: [] } as const;

/** Checks the request for mistakes that can be found without reading coins. */
function whyNotPayable({ order, charge, special, sendsParents }: PaymentRequest): PsbtRefusal | null {
  const { missing, shownAmount, amount } = order;
  if (charge !== null && charge < missing)
    return refusedPsbt(
      `chargeAmount is ${charge} sats, but the order needs ${missing}${amount > shownAmount ? ', because fees have risen since the order was made' : ''}.`,
      'chargeAmount',
    );
  if (!sendsParents && missing === 0n)
    return refusedPsbt(
      'The order is already paid, and waits for its parents. Send them with POST /create-parent-child-psbt.',
    );
  if (special !== null && missing === 0n)
    return refusedPsbt(
      'specialSatsOutput: the order is already paid, so this output would not be inscribed.',
      'specialSatsOutput',
    );
  return null;
}
