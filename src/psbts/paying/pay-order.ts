import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { afterPayment } from '#orders/paying/after-payment.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { type FreeCoins, freeCoins, type PaymentCoin, unprovenCoins } from '#psbts/coins/free-coins.ts';
import { feeRateFor, feeRateWarnings, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { parseOutpoint } from '#psbts/planning/read-outpoint.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { judgePayment } from './judge-payment.ts';
import { lentParents } from './lent-parents.ts';
import { type AskedPayment, layOutPayment, type PaymentLayout } from './payment-layout.ts';
import { type PlannedPayment, planPayment } from './plan-payment.ts';
import { specialOutput } from './special-output.ts';
import { type InputRanges, type SeenPayment, seenPayment } from './wanted-payment.ts';

/** A request for a payment of an order. */
export interface PaymentRequest {
  readonly order: OpenOrder;
  readonly signers: Signers;
  /** Sats for 1,000 virtual bytes; null: the node's estimate. */
  readonly feeRate: bigint | null;
  /** The output with the sat that is to be inscribed; null: any sats. */
  readonly special: Outpoint | null;
  /** Sats to the address of the order; null: as few as it takes. */
  readonly charge: bigint | null;
  /** Sends the parents that the order waits for. */
  readonly sendsParents: boolean;
}

export interface BuiltPayment extends BuiltPsbt {
  /** Sats to the address of the order. */
  readonly charge: bigint;
}

/** Looks at a payment, each of which costs more than the one before. */
const triesMax = 5;

/**
 * A PSBT that pays for an order, and was tried: with the transaction that it makes the order would be paid, and inscribed on
 * the sat that was asked for. Refused: it would not be, with the reason. Throws `coins_unproven`, and the codes of what it
 * asks.
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
  const order = await withSats(parts, request.order, asker);
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

/** The inputs that are spent for what they hold. */
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

/** Mistakes that need no look at coins. */
function whyNotPayable({ order, charge, special, sendsParents }: PaymentRequest): PsbtRefusal | null {
  const { missing, shownAmount, amount } = order;
  if (charge !== null && charge < missing)
    return refusedPsbt(
      `chargeAmount is ${charge} sats, and the order needs ${missing}${amount > shownAmount ? ': fees have risen since it was made' : ''}.`,
      'chargeAmount',
    );
  if (!sendsParents && missing === 0n)
    return refusedPsbt(
      'The order is paid, and waits for its parents: POST /create-parent-child-psbt sends them.',
    );
  if (special !== null && missing === 0n)
    return refusedPsbt(
      'specialSatsOutput: the order is paid, so this output would not be inscribed.',
      'specialSatsOutput',
    );
  return null;
}

/** Money of the service is not a customer's. */
async function whyOwn({ ownAmong }: CoinParts, { payment, ordinals }: Signers): Promise<PsbtRefusal | null> {
  if (ownAmong === null) return null;
  const own = await ownAmong([payment.script, ordinals.script]);
  const [signer] = [payment, ordinals].filter(({ script }) =>
    own.some((each) => Buffer.compare(each, script) === 0),
  );
  return signer === undefined ? null : refusedPsbt(`${signer.address} is an address of this service.`);
}

interface Trial {
  readonly parts: CoinParts;
  readonly order: OpenOrder;
  readonly coins: FreeCoins;
  readonly feeRate: bigint;
  readonly asker: Asker;
}

interface TriedPayment {
  readonly kind: 'tried';
  readonly planned: PlannedPayment<PaymentCoin>;
  readonly layout: PaymentLayout;
  readonly warnings: readonly string[];
}

/** Raises the charge until the order would be paid: what its coins cost shows once they are planned. */
async function tryPayments(trial: Trial, wanted: AskedPayment): Promise<TriedPayment | PsbtRefusal> {
  const { parts, order, coins, feeRate } = trial;
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
      charge = layout.charge + outcome.missing;
      continue;
    }
    const judged = judgePayment(outcome, { layout, seen });
    if (judged.kind === 'refused') return judged;
    // what the order turned out to cost is not too much
    const beyond = tries === 0 ? layout.charge - layout.needed : 0n;
    const warnings = [...judged.warnings, ...amountWarnings(planned.overpaid, beyond, order)];
    return { kind: 'tried', planned, layout, warnings };
  }
  return refusedPsbt('The order costs more with each coin that pays for it: pay it in one output.');
}

function amountWarnings(overpaid: bigint, beyond: bigint, { hasRefundAddress }: OpenOrder): string[] {
  const warnings: string[] = [];
  if (overpaid > 0n)
    warnings.push(
      `${overpaid} sats of the fee are more than its rate: too few for change, and no other coin helps.`,
    );
  if (beyond >= p2trDust)
    warnings.push(
      `chargeAmount is ${beyond} sats more than the order needs: ${hasRefundAddress ? 'they are refunded, less a fee' : 'the order has no refundAddress, so they wait for the operator'}.`,
    );
  return warnings;
}

/** The payment with the sats that it would bring, as far as the order asks for them. */
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

/** The same order with the sats of coins that came before, where it asks for certain ones. */
async function withSats(parts: CoinParts, order: OpenOrder, asker: Asker): Promise<OpenOrder> {
  const mined = order.coins.filter(({ height }) => height !== null);
  if (order.allowedSatributes === null || mined.length === 0) return order;
  const outpoints = mined.flatMap(({ outpoint }) => parseOutpoint(outpoint) ?? []);
  const there = (await parts.utxos.outputs(outpoints)).filter((output) => output !== null);
  const sats = await parts.utxos.sats(there, asker, []);
  const ranges = new Map<string, readonly SatRange[]>(
    there.flatMap(({ txid, vout }, place) => {
      const held = sats[place];
      return held?.state === 'known' ? [[`${displayHash(txid)}:${vout}`, held.ranges] as const] : [];
    }),
  );
  return {
    ...order,
    coins: order.coins.map((coin) => ({ ...coin, ranges: ranges.get(coin.outpoint) ?? null })),
  };
}
