import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { outputMask, pairSignature, signaturesOf } from './fitting-signatures.ts';
import { layoutOf } from './layouts.ts';
import type { Coin, MovingTransaction, SignedAs } from './moving-transaction.ts';
import { isExchange, isPaidInRunes, opReturn } from './traits.ts';

/** What the inscriptions of an input were sold for. */
export interface Payment {
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
export function paymentFor(tx: MovingTransaction, input: number): Payment | null {
  const pair = pairSignature(tx.inputs[input]!);
  return pair === undefined ? paymentByAll(tx, input) : paymentByPair(tx, input, pair);
}

function paymentByPair(tx: MovingTransaction, input: number, { sighash }: SignedAs): Payment | null {
  const spent = tx.inputs[input]!;
  const payout = tx.outputs[input];
  // a legacy signature without such an output signs the number 1: it binds nothing (BIP 143)
  if (payout === undefined || !canPay(tx, input, payout)) return null;
  const isShared = signaturesOf(spent).length > 1;
  const maker = isShared ? payout.script : spent.script;
  const funding = tx.inputs.filter((other, at) => at !== input && pairSignature(other) === undefined);
  if (!isPaidByOthers(takersOf(tx, input), { spent, payout, maker, funding })) return null;
  if (isExchange(tx, input, [spent.script, payout.script])) return null;
  if (payout.value <= spent.value && isPaidInRunes(tx, input)) return null;
  const { form, isPostageReturned, feeOutput } = layoutOf(tx, input);
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
    isCluster: funding.some(({ script }) => script === maker || script === payout.script),
    share: `pair ${input}`,
  };
}

/** Whether an output can be a payment: it holds sats that somebody can spend, and no inscription. */
function canPay({ moves }: MovingTransaction, vout: number, { value, script }: Coin): boolean {
  return value > 0 && !script.startsWith(opReturn) && moves.every(({ landing }) => landing !== vout);
}

interface Pair {
  readonly spent: Coin;
  readonly payout: Coin;
  readonly maker: string;
  /** Inputs that are not pairs. */
  readonly funding: readonly Coin[];
}

/** Whether the payout is a stranger's sats for the maker; where the maker is the taker, more than there was before. */
function isPaidByOthers(takers: ReadonlySet<string>, { spent, payout, maker, funding }: Pair): boolean {
  const toTaker = takers.has(payout.script);
  if (toTaker && (payout.script !== maker || payout.value <= spent.value)) return false;
  const isOwnMoney = funding.every(({ script }) => script === spent.script || script === payout.script);
  return !isOwnMoney || takers.has(maker);
}

function confidenceOfPair(isShared: boolean, form: SaleForm): Confidence {
  if (isShared) return 'bound-shared';
  return form === 'pair' ? 'bound' : 'bound-known';
}

/** All outputs are signed: the coins show whether the holder was paid by who has the inscriptions now. */
function paymentByAll(tx: MovingTransaction, input: number): Payment | null {
  const { script: maker } = tx.inputs[input]!;
  const signed = signaturesOf(tx.inputs[input]!);
  const [first] = signed;
  if (first === undefined || signed.some(({ sighash }) => (sighash & outputMask) === none)) return null;
  const taker = soleTaker(tx, input);
  if (taker === null || taker === maker || taker.startsWith(opReturn)) return null;
  const evidence = evidenceOfOffer(tx, input, taker);
  const gain = gainOf(tx, maker);
  // change of the holder: nobody paid
  if (evidence === null || gain === null || gain.price <= 0) return null;
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
  tx: MovingTransaction,
  input: number,
  taker: string,
): Pick<Payment, 'form' | 'confidence'> | null {
  const { script: maker } = tx.inputs[input]!;
  const isFunded = tx.inputs.some(({ script }) => script === taker);
  const isLaidOut = isOfferLayout(tx, input, maker);
  if ((!isFunded && !isLaidOut) || isExchange(tx, input, [maker])) return null;
  return {
    form: isLaidOut ? 'ord-offer' : 'all-signed',
    confidence: isFunded ? 'paid-by-taker' : 'offer-layout',
  };
}

/** The script that gets all inscriptions of an input; null: there are several, or some go into the fee. */
function soleTaker(tx: MovingTransaction, input: number): string | null {
  if (tx.moves.some((move) => move.input === input && move.landing === null)) return null;
  const [taker = null, ...others] = takersOf(tx, input);
  return others.length === 0 ? taker : null;
}

/** What an owner gets besides inscriptions, and how much more it is than what the owner put in; null: nothing. */
function gainOf(
  { inputs, outputs, moves }: MovingTransaction,
  owner: string,
): Pick<Payment, 'grossPayout' | 'price' | 'payoutOutput'> | null {
  const landings = new Set(moves.map(({ landing }) => landing));
  const payouts = [...outputs.keys()].filter((at) => outputs[at]!.script === owner && !landings.has(at));
  const [payoutOutput] = payouts;
  if (payoutOutput === undefined) return null;
  const grossPayout = sum(payouts.map((at) => outputs[at]!));
  const price = grossPayout - sum(inputs.filter(({ script }) => script === owner));
  return { grossPayout, price, payoutOutput };
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

/** Scripts of the outputs in which the inscriptions of an input land. */
function takersOf({ outputs, moves }: MovingTransaction, input: number): ReadonlySet<string> {
  const landings = moves.flatMap((move) =>
    move.input === input && move.landing !== null ? [move.landing] : [],
  );
  return new Set(landings.map((landing) => outputs[landing]!.script));
}

const sum = (coins: readonly Coin[]): number => coins.reduce((total, { value }) => total + value, 0);
