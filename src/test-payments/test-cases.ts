import { atLeastDust, dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { OpenTokenOrder } from '#tokenpay/open-token-order.ts';

/** The cases: how an order is paid or not paid, and the effect that the shop sees. */
export const testCases = {
  exact: 'everything that the order lacks, in one transaction: the order is completed',
  token: 'everything that the token charge lacks, without the fee',
  fee: 'everything that the fee charge lacks, without the token',
  parts: 'the token in three transactions, the fee with the last one: the order is completed',
  partial: 'half of the token, and the fee: the order waits for the rest',
  over: 'one unit more than needed, and the fee: the order is completed, and the additional unit is credited',
  'wrong-rune': 'another rune at the address of the token: the rune is credited, and the order waits',
  'several-runes':
    'the token and another rune in one output, and the fee: the order is completed, and both runes are credited',
  cenotaph: 'the token in a transaction that burns it: only the sats are credited',
  'mint-over-cap': 'a mint of the token whose terms allow no more mints: only the sats are credited',
  'btc-at-token': 'sats at the address of the token: the sats are credited, and the order waits',
  'rune-at-fee': 'the token at the address of the fee: the token is credited, and the order waits',
  replaced:
    'replaces the last test payment of the order, while it is not in a block, with a transaction that pays nothing',
  late: 'everything for an order whose time is over: the payment is credited, and the order stays unchanged',
  completed:
    'everything for an order that is completed: the order is paid again, and the payment is credited',
} as const;
export type TestCase = keyof typeof testCases;

export const isTestCase = (text: string): text is TestCase => Object.hasOwn(testCases, text);

/** Units of a rune. */
export interface Units {
  readonly id: RuneId;
  /** Amount in base units, above 0. */
  readonly amount: bigint;
}

export interface TestOutput {
  readonly script: Uint8Array;
  readonly sats: bigint;
  readonly units: readonly Units[];
}

/**
 * One transaction of a case. `edicts`: sends units to the outputs. `cenotaph`: burns all units of its inputs, which are
 * `burned`. `mint`: mints the rune for the first output.
 */
export type TestPayment =
  | { readonly kind: 'edicts'; readonly outputs: readonly TestOutput[] }
  | { readonly kind: 'cenotaph'; readonly outputs: readonly TestOutput[]; readonly burned: Units }
  | { readonly kind: 'mint'; readonly outputs: readonly TestOutput[]; readonly minted: RuneId };

/** The facts about an order that its test case needs. */
export interface PaidOrder {
  readonly open: OpenTokenOrder;
  readonly rune: RuneId;
  /** Whether a mint of the rune creates units now. */
  readonly isMintable: boolean;
  /** Another rune of the wallet, or null if the wallet has no other rune. */
  readonly other: RuneId | null;
  /** The output script of the wallet. */
  readonly own: Uint8Array;
}

/** The reason why a case cannot be paid, as a sentence. */
export interface Unpayable {
  readonly reason: string;
}

/**
 * Number of units in payments whose exact amount does not matter. `straySats` is the number of sats in such payments:
 * more than dust, and less than a fee.
 */
const strayUnits = 1n;
const straySats = 10_000n;
const partsCount = 3n;

/** Plans the transactions of a case, in sequence. Pure. */
export function paymentsOf(
  name: Exclude<TestCase, 'replaced'>,
  paid: PaidOrder,
): readonly TestPayment[] | Unpayable {
  const wrong = whyNotNow(name, paid.open);
  return wrong === null ? plans[name](new Outputs(paid), paid) : { reason: wrong };
}

function whyNotNow(name: TestCase, { order: { state } }: OpenTokenOrder): string | null {
  const wanted = name === 'late' ? 'error' : name === 'completed' ? 'completed' : 'pending';
  if (state === wanted) return null;
  return `The case ${name} is for orders that are ${wanted}, but this order is ${state}.`;
}

type Plan = (outputs: Outputs, paid: PaidOrder) => readonly TestPayment[] | Unpayable;

const plans: Readonly<Record<Exclude<TestCase, 'replaced'>, Plan>> = {
  exact: (to) => sent(to.missingToken(), to.missingFee()),
  token: (to) => sent(to.missingToken()),
  fee: (to) => sent(to.missingFee()),
  parts: (to) => {
    const part = to.amount / partsCount;
    if (part === 0n) return { reason: 'The order asks for fewer units than the case has parts.' };
    return [
      edicts(to.token(part)),
      edicts(to.token(part)),
      edicts(to.token(to.amount - 2n * part), ...to.fee()),
    ];
  },
  partial: (to) =>
    to.amount < 2n
      ? { reason: 'The order asks for one unit, of which there is no half.' }
      : [edicts(to.token(to.amount / 2n), ...to.fee())],
  over: (to) => [edicts(to.token(to.amount + 1n), ...to.fee())],
  'wrong-rune': (to, { other }) =>
    other === null ? noOther : [edicts(to.tokenOf([{ id: other, amount: strayUnits }]))],
  'several-runes': (to, { other, rune }) =>
    other === null
      ? noOther
      : [
          edicts(
            to.tokenOf([
              { id: rune, amount: to.amount },
              { id: other, amount: strayUnits },
            ]),
            ...to.fee(),
          ),
        ],
  cenotaph: (to, { rune, own }) => {
    const burned = { id: rune, amount: to.amount };
    // the units to burn are first sent to a separate output, because a cenotaph burns all runes of its inputs
    return [
      edicts({ script: own, sats: dust(own), units: [burned] }),
      { kind: 'cenotaph', outputs: [to.tokenOf([])], burned },
    ];
  },
  'mint-over-cap': (to, { rune, isMintable }) =>
    isMintable
      ? { reason: 'Mints of this rune still give units: neither its cap nor its end is reached.' }
      : [{ kind: 'mint', outputs: [to.tokenOf([])], minted: rune }],
  'btc-at-token': (to) => [edicts({ ...to.tokenOf([]), sats: straySats })],
  'rune-at-fee': (to, { open, rune }) => {
    const { script } = open.order.charges.fee;
    return [edicts({ script, sats: dust(script), units: [{ id: rune, amount: to.amount }] })];
  },
  late: (to) => [edicts(to.token(to.amount), ...to.fee())],
  completed: (to) => [edicts(to.token(to.amount), ...to.fee())],
};

const noOther: Unpayable = { reason: 'The wallet for tests has no other rune: send it one.' };

const edicts = (...outputs: readonly TestOutput[]): TestPayment => ({ kind: 'edicts', outputs });

function sent(...outputs: readonly (TestOutput | null)[]): readonly TestPayment[] | Unpayable {
  const there = outputs.filter((output) => output !== null);
  return there.length === 0 ? { reason: 'The order does not lack any of it.' } : [edicts(...there)];
}

const dust = (script: Uint8Array): bigint => BigInt(dustOf(script));

/** Makes outputs to the addresses of an order. */
class Outputs {
  readonly #paid: PaidOrder;

  constructor(paid: PaidOrder) {
    this.#paid = paid;
  }

  /** Number of units that the order requires. */
  get amount(): bigint {
    return this.#paid.open.order.charges.token.amount;
  }

  token(amount: bigint): TestOutput {
    return this.tokenOf([{ id: this.#paid.rune, amount }]);
  }

  tokenOf(units: readonly Units[]): TestOutput {
    const { script } = this.#paid.open.order.charges.token;
    return { script, sats: dust(script), units };
  }

  /** The output for the fee. The list is empty if the order has no fee. */
  fee(): TestOutput[] {
    return this.#feeOf(this.#paid.open.order.charges.fee.amount);
  }

  missingToken(): TestOutput | null {
    const { amount } = this.#paid.open.missing.token;
    return amount === 0n ? null : this.token(amount);
  }

  missingFee(): TestOutput | null {
    return this.#feeOf(this.#paid.open.missing.fee.amount)[0] ?? null;
  }

  #feeOf(amount: bigint): TestOutput[] {
    if (amount === 0n) return [];
    const { script } = this.#paid.open.order.charges.fee;
    return [{ script, sats: atLeastDust(amount, script), units: [] }];
  }
}
