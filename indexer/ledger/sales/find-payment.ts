import type { Refusal } from '#kernel/sales/refusals.ts';
import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { listingSignature, none, outputMask, signaturesOf } from './fitting-signatures.ts';
import { isPurchaseLayout, layoutOf } from './layouts.ts';
import type { Coin, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { dustMax, opReturn, priceOfPair } from './sale-rules.ts';
import type { TradeFacts } from './trade-facts.ts';

/** Payment for the inscriptions of an input. */
export interface SalePayment {
  readonly class: 'sale' | 'offer';
  readonly form: SaleForm;
  readonly confidence: Confidence;
  readonly grossPayout: number;
  readonly price: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
  /** Script of the maker. */
  readonly maker: string;
  /** True if the maker also pays for the purchase. */
  readonly isCluster: boolean;
  /** Inputs with the same value share the payout. */
  readonly share: string;
}

/** Finds the payment for the inscriptions of an input, or the rule that refuses it. */
export function paymentFor(facts: TradeFacts, input: number): SalePayment | Refusal {
  const pair = facts.pairs[input];
  return pair === undefined ? paymentByAll(facts, input) : paymentByPair(facts, input, pair);
}

function paymentByPair(facts: TradeFacts, input: number, { sighash }: SignedAs): SalePayment | Refusal {
  const { inputs, outputs } = facts.tx;
  const spent = inputs[input]!;
  const payout = outputs[input];
  // a legacy signature without such an output signs the number 1, so it binds nothing (BIP 143)
  if (payout === undefined) return 'no-output';
  const unfit = whyUnfit(facts, input, payout);
  if (unfit !== null) return unfit;
  const isShared = signaturesOf(spent).length > 1;
  const maker = isShared ? payout.script : spent.script;
  const { funding } = facts;
  const unpaid = whyUnpaid(facts.takersOf(input), { spent, payout, maker, funding });
  if (unpaid !== null) return unpaid;
  if (facts.isExchange([spent.script, payout.script])) return 'exchange';
  if (isDustBeyond(payout.value, spent.value) && isPaidInRunes(facts, spent, payout)) return 'paid-in-runes';
  const { form, isPostageReturned, feeOutput } = layoutOf(facts, input);
  return {
    class: 'sale',
    form,
    confidence: confidenceOfPair(isShared, form),
    grossPayout: payout.value,
    price: priceOfPair(spent, payout, isPostageReturned),
    payoutOutput: input,
    feeOutput,
    sighash,
    maker,
    isCluster: funding.has(spent.script) || funding.has(payout.script),
    share: `pair ${input}`,
  };
}

/**
 * Whether a payment only keeps its output above dust: it exceeds the sats put in by at most 546 sats, however few sats
 * the item had.
 */
function isDustBeyond(paid: number, putIn: number): boolean {
  return paid <= Math.max(putIn, dustMax);
}

/** Whether runes go to the holder, or to the other paid address. */
function isPaidInRunes(facts: TradeFacts, spent: Coin, payout: Coin): boolean {
  return facts.isPaidInRunes(spent.script) || facts.isPaidInRunes(payout.script);
}

/** Why an output cannot be a payment. Null: it can. A payment has spendable sats and no inscription. */
function whyUnfit({ landings }: TradeFacts, vout: number, { value, script }: Coin): Refusal | null {
  if (value === 0) return 'payout-empty';
  if (script.startsWith(opReturn)) return 'payout-unspendable';
  return landings.has(vout) ? 'payout-holds-item' : null;
}

interface Pair {
  readonly spent: Coin;
  readonly payout: Coin;
  readonly maker: string;
  readonly funding: ReadonlySet<string>;
}

/**
 * Why the payout of a pair does not pay for a purchase. Null: it does. Strangers must pay the payout. The maker must
 * not be the taker and get more than before. The payout must not go to another address than the item came from while
 * coins of one of these two addresses pay. A pair is not signed for change, so the last two cases are wash trades.
 */
function whyUnpaid(takers: ReadonlySet<string>, { spent, payout, maker, funding }: Pair): Refusal | null {
  const toTaker = takers.has(payout.script);
  if (toTaker && (payout.script !== maker || payout.value <= spent.value)) return 'payout-to-taker';
  if (takers.has(maker) || hasOther(funding, [spent.script, payout.script])) return null;
  return payout.script !== spent.script && funding.size > 0 ? null : 'own-sats';
}

/** Whether a set has a member outside of `these`. Reads at most one member more than `these` has. */
function hasOther(set: ReadonlySet<string>, these: readonly string[]): boolean {
  for (const one of set) if (!these.includes(one)) return true;
  return false;
}

function confidenceOfPair(isShared: boolean, form: SaleForm): Confidence {
  if (isShared) return 'bound-shared';
  return form === 'pair' ? 'bound' : 'bound-known';
}

/** The payment of an input that signs all outputs. The coins show whether the holder was paid. */
function paymentByAll(facts: TradeFacts, input: number): SalePayment | Refusal {
  const spent = facts.tx.inputs[input]!;
  const { script: maker } = spent;
  const unfit = whyNotSigned(signaturesOf(spent)) ?? whyNoTaker(facts, input, maker);
  if (unfit !== null) return unfit;
  const listing = listingSignature(spent);
  const gain = gainOf(facts, maker);
  if (gain !== null && gain.price > 0) return paymentByGain(facts, input, { gain, listing });
  // the holder's gain is change, unless another address is paid for the listing
  const elsewhere = listing === undefined ? null : paymentElsewhere(facts, input, listing);
  return elsewhere ?? (gain === null ? 'holder-not-paid' : 'change');
}

function whyNotSigned(signed: readonly SignedAs[]): Refusal | null {
  if (signed.length === 0) return 'not-signed';
  return signed.some(({ sighash }) => (sighash & outputMask) === none) ? 'outputs-not-signed' : null;
}

type Gain = Pick<SalePayment, 'grossPayout' | 'price' | 'payoutOutput'>;

/** The payment if the holder receives more sats than the holder put in. */
function paymentByGain(
  facts: TradeFacts,
  input: number,
  { gain, listing }: { readonly gain: Gain; readonly listing: SignedAs | undefined },
): SalePayment | Refusal {
  const spent = facts.tx.inputs[input]!;
  const { script: maker } = spent;
  const evidence = evidenceOfGain(facts, input, listing !== undefined);
  if (evidence === null) return 'payer-unknown';
  if (facts.isExchange([maker])) return 'exchange';
  if (isDustBeyond(gain.grossPayout, facts.spentBy(maker)) && facts.isPaidInRunes(maker)) {
    return 'paid-in-runes';
  }
  return {
    class: listing === undefined ? 'offer' : 'sale',
    ...evidence,
    ...gain,
    feeOutput: null,
    sighash: signaturesOf(spent)[0]!.sighash,
    maker,
    isCluster: false,
    share: `all ${maker}`,
  };
}

/** Why not all inscriptions of an input go to one other owner. Null: they do. */
function whyNoTaker(facts: TradeFacts, input: number, maker: string): Refusal | null {
  if (facts.movesOf(input).some(({ landing }) => landing === null)) return 'into-fee';
  const [taker, ...others] = facts.takersOf(input);
  if (taker === undefined || others.length > 0) return 'several-takers';
  if (taker === maker) return 'kept';
  return taker.startsWith(opReturn) ? 'burned' : null;
}

/** The evidence that the sats gained by a holder pay for an item. Null: no evidence. */
function evidenceOfGain(
  facts: TradeFacts,
  input: number,
  isListed: boolean,
): Pick<SalePayment, 'form' | 'confidence'> | null {
  const { tx, inputScripts } = facts;
  const { script: maker } = tx.inputs[input]!;
  const [taker = maker] = facts.takersOf(input);
  const isFunded = inputScripts.has(taker);
  if (isOfferLayout(tx, input, maker)) {
    return { form: 'ord-offer', confidence: isFunded ? 'paid-by-taker' : 'offer-layout' };
  }
  if (isFunded) return { form: 'all-signed', confidence: 'paid-by-taker' };
  const payout = tx.outputs[input];
  if (payout === undefined || payout.script !== maker || whyUnfit(facts, input, payout) !== null) return null;
  if (isListed) return { form: 'all-signed', confidence: 'bound' };
  return isPurchaseLayout(facts, input) ? { form: 'all-signed', confidence: 'offer-layout' } : null;
}

/**
 * The payment of a listing that was signed with ALL|ANYONECANPAY and is paid at another address of the seller. It is
 * the output at the listing's own index, if strangers pay it and it is not change of one of them. Null: there is no
 * such payment.
 */
function paymentElsewhere(facts: TradeFacts, input: number, { sighash }: SignedAs): SalePayment | null {
  const { inputs, outputs } = facts.tx;
  const spent = inputs[input]!;
  const payout = outputs[input];
  if (payout === undefined || !isSellersOwn(facts, input, payout)) return null;
  const { payers } = facts;
  // if no change follows, the output may be the change of a buyer with a new address
  if (facts.lastChange <= input) return null;
  if (!hasOther(payers, [spent.script]) || facts.isExchange([spent.script, payout.script])) return null;
  if (isDustBeyond(payout.value, spent.value) && isPaidInRunes(facts, spent, payout)) return null;
  const isShared = signaturesOf(spent).length > 1;
  return {
    class: 'sale',
    form: 'all-signed',
    confidence: isShared ? 'bound-shared' : 'bound',
    grossPayout: payout.value,
    price: payout.value - spent.value,
    payoutOutput: input,
    feeOutput: null,
    sighash,
    maker: isShared ? payout.script : spent.script,
    isCluster: payers.has(spent.script),
    share: `listing ${input}`,
  };
}

/**
 * Whether an output pays another address of the seller: it pays neither a buyer nor a payer, and it is larger than the
 * item's output.
 */
function isSellersOwn(facts: TradeFacts, input: number, payout: Coin): boolean {
  const spent = facts.tx.inputs[input]!;
  const isOfBuyer = facts.payers.has(payout.script) || facts.takersOf(input).has(payout.script);
  const isMore = payout.script !== spent.script && payout.value > spent.value;
  return isMore && !isOfBuyer && whyUnfit(facts, input, payout) === null;
}

/** Gain of an owner: sats received in outputs without inscriptions, minus the sats put in. Null: no gain. */
function gainOf(facts: TradeFacts, owner: string): Gain | null {
  const own = facts.ownOutputs(owner);
  if (own === null) return null;
  const { first: payoutOutput, total: grossPayout } = own;
  return { grossPayout, price: grossPayout - facts.spentBy(owner), payoutOutput };
}

/**
 * Whether the transaction is an offer of ord: the item is input 0 and output 0, output 1 pays its holder, and strangers
 * pay for it.
 */
function isOfferLayout({ inputs, outputs, moves }: MovingTransaction, input: number, maker: string): boolean {
  return (
    input === 0 &&
    moves.every((move) => move.input === 0 && move.landing === 0) &&
    outputs[1]?.script === maker &&
    inputs.length > 1 &&
    inputs.every(({ script }, at) => at === 0 || script !== maker)
  );
}
