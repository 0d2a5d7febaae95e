import { bitcoin, type PaidOutput, receivedLine } from './order-model.ts';
import { addUnits, type Units } from './rune-model.ts';

/** An order of items for a rune as the run knows it. */
export interface ModelSale {
  readonly id: string;
  /** The account of the creator, which gets the rune. */
  readonly account: string;
  /** The txid of the etching of its rune. */
  readonly rune: string;
  /** Base units of it. */
  readonly units: bigint;
  /** Sats of its charge. */
  readonly sats: bigint;
  /** Scripts in hex. */
  readonly chargeScript: string;
  readonly tokenScript: string;
  /** Its time was over at some moment of the run: what was sent later is late. */
  readonly isOver: boolean;
  /** Its customer asked to cancel it. */
  readonly isCancelAsked: boolean;
  /** It was answered that it is cancelled. */
  readonly isCancelled: boolean;
}

/** An output of the final chain at one of its scripts. */
export interface SaleOutput extends Omit<PaidOutput, 'isAside'> {
  /** It was sent after the time of the order was over. */
  readonly isLate: boolean;
}

/** The part of a payment that counts for an order: of the payment as it was first sent, or of what replaced it. */
export interface SentHalf {
  /** The coin that it spends: of two that spend the same, one is mined at most. */
  readonly coin: string;
  readonly units: bigint;
  readonly sats: bigint;
  readonly isLate: boolean;
}

/**
 * Whether an order is delivered. `due`: its payments are on the final chain, in time. `possible`: some branch may have
 * had them, or its customer asked to cancel it. `impossible`: no branch ever had them.
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

/** All units, and all sats in one output: several outputs each cost an input, and may be too little together. */
function isPaid({ rune, units, sats, chargeScript, tokenScript }: ModelSale, outputs: readonly SaleOutput[]) {
  const inTime = outputs.filter(({ isLate }) => !isLate);
  const came = inTime.map(({ script, runes }) => (script === tokenScript ? (runes.get(rune) ?? 0n) : 0n));
  return sumOf(came) >= units && inTime.some((each) => each.script === chargeScript && each.sats >= sats);
}

/** Whether enough was ever sent in time, where of each coin the most counts that it was to pay. */
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

/** The end of the token order of a sale, by the model or as the service has it. */
export interface SaleEnd {
  readonly state: string;
  /** Its outputs as `receivedLine` says them, sorted. */
  readonly received: readonly string[];
}

/** The gain of the creator: all at the address of the token order, and nothing of the charge. Pure. */
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
 * States that a token order may have once the time of all orders is over that are not due: what was delivered for a
 * rune that a reorganisation took back ends in error, and so does what was not delivered. Pure.
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
