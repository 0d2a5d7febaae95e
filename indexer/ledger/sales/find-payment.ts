import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { outputMask, signaturesOf } from './fitting-signatures.ts';
import { layoutOf } from './layouts.ts';
import type { Coin, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { dustMax, opReturn } from './sale-rules.ts';
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

const none = 0x02;
const anyoneCanPay = 0x80;

/** What the inscriptions of an input were sold for; null: they were not. */
export function paymentFor(facts: TradeFacts, input: number): SalePayment | null {
  const pair = facts.pairs[input];
  return pair === undefined ? paymentByAll(facts, input) : paymentByPair(facts, input, pair);
}

function paymentByPair(facts: TradeFacts, input: number, { sighash }: SignedAs): SalePayment | null {
  const { inputs, outputs } = facts.tx;
  const spent = inputs[input]!;
  const payout = outputs[input];
  // a legacy signature without such an output signs the number 1: it binds nothing (BIP 143)
  if (payout === undefined || !canPay(facts, input, payout)) return null;
  const isShared = signaturesOf(spent).length > 1;
  const maker = isShared ? payout.script : spent.script;
  const { funding } = facts;
  if (!isPaidByOthers(facts.takersOf(input), { spent, payout, maker, funding })) return null;
  if (facts.isExchange([spent.script, payout.script])) return null;
  if (isDustBeyond(payout.value, spent.value) && facts.isPaidInRunes(spent.script)) return null;
  const { form, isPostageReturned, feeOutput } = layoutOf(facts, input);
  const rest = payout.value - spent.value;
  return {
    class: 'sale',
    form,
    confidence: confidenceOfPair(isShared, form),
    grossPayout: payout.value,
    price: isPostageReturned && rest > 0 ? rest : payout.value,
    payoutOutput: input,
    feeOutput,
    sighash,
    maker,
    isCluster: funding.has(maker) || funding.has(payout.script),
    share: `pair ${input}`,
  };
}

/** Whether a payment only holds its output, beside what was put in: 546 sats, however few the item had. */
function isDustBeyond(paid: number, putIn: number): boolean {
  return paid <= Math.max(putIn, dustMax);
}

/** Whether an output can be a payment: it holds sats that somebody can spend, and no inscription. */
function canPay({ landings }: TradeFacts, vout: number, { value, script }: Coin): boolean {
  return value > 0 && !script.startsWith(opReturn) && !landings.has(vout);
}

interface Pair {
  readonly spent: Coin;
  readonly payout: Coin;
  readonly maker: string;
  readonly funding: ReadonlySet<string>;
}

/** Whether the payout is a stranger's sats for the maker; where the maker is the taker, more than there was before. */
function isPaidByOthers(takers: ReadonlySet<string>, { spent, payout, maker, funding }: Pair): boolean {
  const toTaker = takers.has(payout.script);
  if (toTaker && (payout.script !== maker || payout.value <= spent.value)) return false;
  return takers.has(maker) || hasOther(funding, [spent.script, payout.script]);
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

/** All outputs are signed: the coins show whether the holder was paid by who has the inscriptions now. */
function paymentByAll(facts: TradeFacts, input: number): SalePayment | null {
  const spent = facts.tx.inputs[input]!;
  const { script: maker } = spent;
  const signed = signaturesOf(spent);
  const [first] = signed;
  if (first === undefined || signed.some(({ sighash }) => (sighash & outputMask) === none)) return null;
  const taker = soleTaker(facts, input);
  if (taker === null || taker === maker || taker.startsWith(opReturn)) return null;
  const evidence = evidenceOfOffer(facts, input, taker);
  const gain = gainOf(facts, maker);
  // change of the holder: nobody paid
  if (evidence === null || gain === null || gain.price <= 0) return null;
  if (isDustBeyond(gain.grossPayout, facts.spentBy(maker)) && facts.isPaidInRunes(maker)) return null;
  return {
    class: signed.some(({ sighash }) => (sighash & anyoneCanPay) !== 0) ? 'sale' : 'offer',
    ...evidence,
    ...gain,
    feeOutput: null,
    sighash: first.sighash,
    maker,
    isCluster: false,
    share: `all ${maker}`,
  };
}

/** What shows that others paid the holder of an input; null: nothing does, or they paid in items too. */
function evidenceOfOffer(
  facts: TradeFacts,
  input: number,
  taker: string,
): Pick<SalePayment, 'form' | 'confidence'> | null {
  const { script: maker } = facts.tx.inputs[input]!;
  const isFunded = facts.inputScripts.has(taker);
  const isLaidOut = isOfferLayout(facts.tx, input, maker);
  if ((!isFunded && !isLaidOut) || facts.isExchange([maker])) return null;
  return {
    form: isLaidOut ? 'ord-offer' : 'all-signed',
    confidence: isFunded ? 'paid-by-taker' : 'offer-layout',
  };
}

/** The script that gets all inscriptions of an input; null: there are several, or some go into the fee. */
function soleTaker(facts: TradeFacts, input: number): string | null {
  if (facts.movesOf(input).some(({ landing }) => landing === null)) return null;
  const [taker = null, ...others] = facts.takersOf(input);
  return others.length === 0 ? taker : null;
}

/** What an owner gets besides inscriptions, and how much more it is than what the owner put in; null: nothing. */
function gainOf(
  facts: TradeFacts,
  owner: string,
): Pick<SalePayment, 'grossPayout' | 'price' | 'payoutOutput'> | null {
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
