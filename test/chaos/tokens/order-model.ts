import { addUnits, type Units } from './rune-model.ts';

/** An order of a shop in the model of the run. */
export interface ModelOrder {
  readonly id: string;
  readonly account: string;
  /** The txid of the etching of the order's rune. */
  readonly rune: string;
  /** Base units. */
  readonly amount: bigint;
  /** Sats of the order's fee charge. */
  readonly feeAmount: bigint;
  /** The part of these sats that is revenue. */
  readonly baseFee: bigint;
  /** Scripts of the order's charges in hex. */
  readonly feeScript: string;
  readonly tokenScript: string;
  /** Whether the order's time ended before anything was paid. If so, all payments are late. */
  readonly isOver: boolean;
}

/** An output of the final chain at the address of a charge. */
export interface PaidOutput {
  readonly outpoint: string;
  readonly script: string;
  readonly sats: bigint;
  readonly runes: Units;
  /** Whether the output contains an inscription. */
  readonly isAside: boolean;
}

/** The end of an order, according to the model or to the service. */
export interface OrderEnd {
  readonly state: string;
  readonly fee: string;
  readonly token: string;
  /** The order's outputs as lines of `receivedLine`, sorted. */
  readonly received: readonly string[];
}

export const receivedLine = (
  { outpoint, sats, runes, isAside }: Omit<PaidOutput, 'script'>,
  charge: string,
): string => {
  const units = [...runes].map(([rune, amount]) => `${rune}:${amount}`).toSorted();
  return [outpoint, charge, sats, isAside ? 'aside' : 'credited', ...units].join(' ');
};

/** The key of sats in the holdings of accounts. */
export const bitcoin = 'BTC';

/**
 * The end of an order, and the gain of its account. They follow from the payments on the final chain, when nothing
 * waits any more. Pure.
 */
export function endOfOrder(
  order: ModelOrder,
  paid: readonly PaidOutput[],
): OrderEnd & { readonly gain: Units } {
  const money = paid.filter(({ isAside }) => !isAside);
  const atFee = money.filter(({ script }) => script === order.feeScript);
  const atToken = money.filter(({ script }) => script === order.tokenScript);
  const feeSats = sumOf(atFee.map(({ sats }) => sats));
  const units = sumOf(atToken.map(({ runes }) => runes.get(order.rune) ?? 0n));
  const fee = order.isOver ? 'expired' : chargeOf(feeSats, order.feeAmount);
  const token = order.isOver ? 'expired' : chargeOf(units, order.amount);
  const isComplete = fee === 'completed' && token === 'completed';
  const gain = new Map<string, bigint>();
  const revenue = order.isOver ? 0n : feeSats < order.baseFee ? feeSats : order.baseFee;
  addUnits(gain, bitcoin, sumOf(money.map(({ sats }) => sats)) - revenue);
  for (const { runes } of money) for (const [rune, amount] of runes) addUnits(gain, rune, amount);
  return {
    state: order.isOver ? 'error' : isComplete ? 'completed' : 'pending',
    fee,
    token,
    received: paid
      .map((output) => receivedLine(output, output.script === order.feeScript ? 'fee' : 'token'))
      .toSorted(),
    gain,
  };
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);

const chargeOf = (came: bigint, asked: bigint): string =>
  came >= asked ? 'completed' : came > 0n ? 'payment_seen' : 'pending_payment';
