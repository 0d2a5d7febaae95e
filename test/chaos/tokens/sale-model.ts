import { bitcoin, type PaidOutput, receivedLine } from './order-model.ts';
import { addUnits, type Units } from './rune-model.ts';

/** An order of items for a rune as the run knows it. */
export interface ModelSale {
  readonly id: string;
  /** The account of the creator, which gets the rune. */
  readonly account: string;
  /** The txid of the etching of the order's rune. */
  readonly rune: string;
  /** Base units of the rune. */
  readonly units: bigint;
  /** Sats of the order's charge. */
  readonly sats: bigint;
  /** Scripts in hex. */
  readonly chargeScript: string;
  readonly tokenScript: string;
  /** Whether the order's time had ended at some moment of the run. Payments that were sent later are late. */
  readonly isOver: boolean;
  /** Whether the customer asked to cancel the order. */
  readonly isCancelAsked: boolean;
  /** Whether the service responded that the order is cancelled. */
  readonly isCancelled: boolean;
}

/** An output of the final chain at one of the order's scripts. */
export interface SaleOutput extends Omit<PaidOutput, 'isAside'> {
  /** Whether the output was sent after the order's time had ended. */
  readonly isLate: boolean;
}

/** The part of a payment that counts for an order. The payment is the one that was sent first, or its replacement. */
export interface SentHalf {
  /** The coin that the payment spends. If two payments spend the same coin, at most one of them is mined. */
  readonly coin: string;
  readonly units: bigint;
  readonly sats: bigint;
  readonly isLate: boolean;
}

/**
 * Whether an order is delivered. `due`: its payments are on the final chain, in time. `possible`: some branch may have
 * had its payments, or its customer asked to cancel it. `impossible`: no branch ever had its payments.
 */
export type Delivery = 'due' | 'possible' | 'impossible';

/** Pure. */
export function deliveryOf(
  sale: ModelSale,
  outputs: readonly SaleOutput[],
  sent: readonly SentHalf[],
): Delivery {
  if (sale.isCancelled || !mayHaveBeenPaid(sale, sent)) return 'impossible';
  return isPaid(sale, outputs) && !sale.isOver && !sale.isCancelAsked ? 'due' : 'possible';
}

/**
 * Whether an order is paid: all units arrived, and one output has all sats. Several outputs each cost an input, and may
 * be too little together.
 */
function isPaid({ rune, units, sats, chargeScript, tokenScript }: ModelSale, outputs: readonly SaleOutput[]) {
  const inTime = outputs.filter(({ isLate }) => !isLate);
  const came = inTime.map(({ script, runes }) => (script === tokenScript ? (runes.get(rune) ?? 0n) : 0n));
  return sumOf(came) >= units && inTime.some((each) => each.script === chargeScript && each.sats >= sats);
}

/** Whether enough was ever sent in time. If several payments spend the same coin, only the largest amount counts. */
function mayHaveBeenPaid({ units, sats }: ModelSale, sent: readonly SentHalf[]): boolean {
  const most = [...Map.groupBy(sent, ({ coin }) => coin).values()].map((versions) => {
    const inTime = versions.filter(({ isLate }) => !isLate);
    return { units: mostOf(inTime.map((each) => each.units)), sats: mostOf(inTime.map((each) => each.sats)) };
  });
  return sumOf(most.map((each) => each.units)) >= units && sumOf(most.map((each) => each.sats)) >= sats;
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);
const mostOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((most, each) => (each > most ? each : most), 0n);

/** The end of the token order of a sale, according to the model or to the service. */
export interface SaleEnd {
  readonly state: string;
  /** The order's outputs as lines of `receivedLine`, sorted. */
  readonly received: readonly string[];
}

/** The gain of the creator: everything at the address of the token order, and nothing of the charge. Pure. */
export function gainOfSale(
  { tokenScript }: ModelSale,
  outputs: readonly SaleOutput[],
): { readonly gain: Units; readonly received: readonly string[] } {
  const gain = new Map<string, bigint>();
  const atToken = outputs.filter(({ script }) => script === tokenScript);
  for (const { sats, runes } of atToken) {
    addUnits(gain, bitcoin, sats);
    for (const [rune, amount] of runes) addUnits(gain, rune, amount);
  }
  const received = atToken.map((output) => receivedLine({ ...output, isAside: false }, 'token')).toSorted();
  return { gain, received };
}

/**
 * States that a token order may have at the end, when the time of all orders that are not due is over. An order that
 * was delivered for a rune that a reorganisation took back ends in error. An order that was not delivered also ends in
 * error. Pure.
 */
export function tokenStatesOf(delivery: Delivery, isDelivered: boolean): readonly string[] {
  if (!isDelivered) return ['error'];
  return delivery === 'due' ? ['completed'] : ['completed', 'error'];
}

/** Differences of a sale between the service and the model. Pure. */
export function saleEndFaults(
  { id }: Pick<ModelSale, 'id'>,
  is: SaleEnd & { readonly isDelivered: boolean },
  wanted: Pick<SaleEnd, 'received'> & { readonly delivery: Delivery },
): string[] {
  const { isDelivered, state } = is;
  const states = tokenStatesOf(wanted.delivery, isDelivered);
  const isWrong = isDelivered ? wanted.delivery === 'impossible' : wanted.delivery === 'due';
  const [got, paid] = [new Set(is.received), new Set(wanted.received)];
  return [
    ...(isWrong
      ? [`the sale ${id} is ${isDelivered ? '' : 'not '}delivered, which is ${wanted.delivery}`]
      : []),
    ...(states.includes(state)
      ? []
      : [`the token order of the sale ${id} is ${state}, and not ${states.join(' or ')}`]),
    ...(is.received.length === got.size ? [] : [`the sale ${id} shows an output twice`]),
    ...[...got.difference(paid)].map((line) => `the sale ${id} shows ${line}, which the chain has not`),
    ...[...paid.difference(got)].map((line) => `the sale ${id} does not show ${line}`),
  ];
}
