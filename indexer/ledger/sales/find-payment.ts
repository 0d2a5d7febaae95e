import type { Refusal } from '#kernel/sales/refusals.ts';
import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { listingSignature, none, outputMask, signaturesOf } from './fitting-signatures.ts';
import { isPurchaseLayout, layoutOf } from './layouts.ts';
import type { Coin, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { dustMax, opReturn, priceOfPair } from './sale-rules.ts';
import type { TradeFacts } from './trade-facts.ts';

/** What the inscriptions of an input were sold for. */
export interface SalePayment {
  readonly class: 'sale' | 'offer';
  readonly form: SaleForm;
  readonly confidence: Confidence;
  readonly grossPayout: number;
  readonly price: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
  /** Script. */
  readonly maker: string;
  /** The maker pays for the purchase too. */
  readonly isCluster: boolean;
  /** Inputs of the same name share the payout. */
  readonly share: string;
}

/** Finds what the inscriptions of an input were sold for, or the rule that refuses them. */
export function paymentFor(facts: TradeFacts, input: number): SalePayment | Refusal {
  const pair = facts.pairs[input];
  return pair === undefined ? paymentByAll(facts, input) : paymentByPair(facts, input, pair);
}

function paymentByPair(facts: TradeFacts, input: number, { sighash }: SignedAs): SalePayment | Refusal {
  const { inputs, outputs } = facts.tx;
  const spent = inputs[input]!;
  const payout = outputs[input];
  // a legacy signature without such an output signs the number 1: it binds nothing (BIP 143)
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

/** Whether a payment only holds its output, beside what was put in: 546 sats, however few the item had. */
function isDustBeyond(paid: number, putIn: number): boolean {
  return paid <= Math.max(putIn, dustMax);
}

/** Whether runes come to the holder, or to the other address that is paid. */
function isPaidInRunes(facts: TradeFacts, spent: Coin, payout: Coin): boolean {
  return facts.isPaidInRunes(spent.script) || facts.isPaidInRunes(payout.script);
}

/** Why an output cannot be a payment: one has sats that somebody can spend, and no inscription. Null: it can. */
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
 * Why the payout of a pair is not a purchase's. Null: strangers pay it, the maker is the taker and gets more than there
 * was before, or it goes to another address than the item came from and coins of one of the two pay. No one signs a
 * pair for change, so the last two are wash trades.
 */
function whyUnpaid(takers: ReadonlySet<string>, { spent, payout, maker, funding }: Pair): Refusal | null {
  const toTaker = takers.has(payout.script);
  if (toTaker && (payout.script !== maker || payout.value <= spent.value)) return 'payout-to-taker';
  if (takers.has(maker) || hasOther(funding, [spent.script, payout.script])) return null;
  return payout.script !== spent.script && funding.size > 0 ? null : 'own-sats';
}

/** Whether a set has more than these. At most as many of it are looked at as these are, and one. */
function hasOther(set: ReadonlySet<string>, these: readonly string[]): boolean {
  for (const one of set) if (!these.includes(one)) return true;
  return false;
}

function confidenceOfPair(isShared: boolean, form: SaleForm): Confidence {
  if (isShared) return 'bound-shared';
  return form === 'pair' ? 'bound' : 'bound-known';
}

/** All outputs are signed: the coins show whether the holder was paid. */
function paymentByAll(facts: TradeFacts, input: number): SalePayment | Refusal {
  const spent = facts.tx.inputs[input]!;
  const { script: maker } = spent;
  const unfit = whyNotSigned(signaturesOf(spent)) ?? whyNoTaker(facts, input, maker);
  if (unfit !== null) return unfit;
  const listing = listingSignature(spent);
  const gain = gainOf(facts, maker);
  if (gain !== null && gain.price > 0) return paymentByGain(facts, input, { gain, listing });
  // change of the holder, unless the listing is paid at another address
  const elsewhere = listing === undefined ? null : paymentElsewhere(facts, input, listing);
  return elsewhere ?? (gain === null ? 'holder-not-paid' : 'change');
}

function whyNotSigned(signed: readonly SignedAs[]): Refusal | null {
  if (signed.length === 0) return 'not-signed';
  return signed.some(({ sighash }) => (sighash & outputMask) === none) ? 'outputs-not-signed' : null;
}

type Gain = Pick<SalePayment, 'grossPayout' | 'price' | 'payoutOutput'>;

/** The holder gets more sats than the holder put in. */
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

/** Finds what shows that the sats a holder gained are a payment for an item. Null: nothing does. */
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
 * The payment of a listing that is signed with ALL|ANYONECANPAY and paid at another address of the seller: the output
 * of its own index, where strangers pay it and it is not change of one of them. Null: there is no such payment.
 */
function paymentElsewhere(facts: TradeFacts, input: number, { sighash }: SignedAs): SalePayment | null {
  const { inputs, outputs } = facts.tx;
  const spent = inputs[input]!;
  const payout = outputs[input];
  if (payout === undefined || !isSellersOwn(facts, input, payout)) return null;
  const { payers } = facts;
  // else it may be the change of a buyer with a new address
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

/** Whether an output pays neither who buys nor who pays, and more than the item held: another address of the seller. */
function isSellersOwn(facts: TradeFacts, input: number, payout: Coin): boolean {
  const spent = facts.tx.inputs[input]!;
  const isOfBuyer = facts.payers.has(payout.script) || facts.takersOf(input).has(payout.script);
  const isMore = payout.script !== spent.script && payout.value > spent.value;
  return isMore && !isOfBuyer && whyUnfit(facts, input, payout) === null;
}

/** What an owner gets besides inscriptions, and how much more it is than what the owner put in; null: nothing. */
function gainOf(facts: TradeFacts, owner: string): Gain | null {
  const own = facts.ownOutputs(owner);
  if (own === null) return null;
  const { first: payoutOutput, total: grossPayout } = own;
  return { grossPayout, price: grossPayout - facts.spentBy(owner), payoutOutput };
}

/** An offer of ord: the item is input 0 and output 0, output 1 pays who held it, and strangers pay for it. */
function isOfferLayout({ inputs, outputs, moves }: MovingTransaction, input: number, maker: string): boolean {
  return (
    input === 0 &&
    moves.every((move) => move.input === 0 && move.landing === 0) &&
    outputs[1]?.script === maker &&
    inputs.length > 1 &&
    inputs.every(({ script }, at) => at === 0 || script !== maker)
  );
}
