import type { ReceivedRune } from '#chain/outputs/credited-output.queries.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { unminedCountsMs } from '#payments/unmined-payment.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { Credit, FoundAside } from '#tokenpay/crediting/credit.ts';
import { creditedUnits } from '#tokenpay/crediting/credited-units.ts';
import type { AsideDecision } from '#tokenpay/crediting/decisions.store.ts';
import { chargeState, tokenOrderState } from '#tokenpay/order/charge-state.ts';
import type { TokenOrderStanding } from '#tokenpay/order/token-order.store.ts';
import {
  type Charge,
  type ChargeKind,
  chargeKinds,
  type InscriptionFee,
  type TokenOrder,
} from '#tokenpay/order/token-order.ts';
import { confirmationsOf, type TokenPolicy } from '#tokenpay/order/token-policy.ts';
import type { PaidContents } from './read-contents.ts';

/** A payment that is in a block. */
export type MinedPayment = WatchedPayment & { readonly block: BlockRef };

/** The facts that determine the state of an order. */
export interface OrderFacts {
  /** All outputs at the order's addresses that were seen. */
  readonly payments: readonly WatchedPayment[];
  /** All stored credits of the order. */
  readonly credits: readonly Credit[];
  /**
   * Contents of outputs in blocks that are not credited yet, by outpoint. The value is null if the index does not know
   * the contents yet.
   */
  readonly contents: ReadonlyMap<string, PaidContents | null>;
  /** Decisions of operators about outputs that were set aside, by outpoint. */
  readonly decisions: ReadonlyMap<string, Pick<AsideDecision, 'kind' | 'found'>>;
  /** Height of the last block that was searched for payments. */
  readonly tip: number;
  readonly now: Date;
  /** The time up to which all payments are known. Null if it is unknown; then no order ends. */
  readonly completeAt: Date | null;
}

/** A credit whose runes may have no number in service.assets yet. */
export interface NewCredit extends Omit<Credit, 'runes'> {
  readonly runes: readonly ReceivedRune[];
}

/**
 * Selects payments in blocks that have no stored credit for the same block. Their contents must be looked up in the
 * index. Pure.
 */
export function uncredited({ payments, credits }: Pick<OrderFacts, 'payments' | 'credits'>): MinedPayment[] {
  const credited = new Set(credits.map(placeOf));
  return payments.filter(
    (payment): payment is MinedPayment =>
      payment.block !== null && !credited.has(placeOf({ ...payment, block: payment.block })),
  );
}

const placeOf = ({ txid, vout, block }: Pick<Credit, 'txid' | 'vout' | 'block'>): string =>
  `${outpointOf({ txid, vout })} ${Buffer.from(block.hash).toString('hex')}`;

/** Selects credits whose payments are no longer in the credited block. Pure. */
function takenBack({ payments, credits }: Pick<OrderFacts, 'payments' | 'credits'>): Credit[] {
  const mined = new Set(payments.flatMap((payment) => (isMined(payment) ? [placeOf(payment)] : [])));
  return credits.filter((credit) => !mined.has(placeOf(credit)));
}

const isMined = (payment: WatchedPayment): payment is MinedPayment => payment.block !== null;

/** Makes credits for payments that are deep enough and whose contents the index knows. Pure. */
export function newCredits(order: TokenOrder, facts: OrderFacts, policy: TokenPolicy): NewCredit[] {
  return uncredited(facts).flatMap((payment) => {
    const contents = facts.contents.get(outpointOf(payment)) ?? null;
    const charge = chargeOf(order, payment);
    if (contents === null || charge === null) return [];
    const asked = confirmationsOf(
      policy,
      contents.runes.map(({ rune }) => rune),
    );
    if (facts.tip - payment.block.height + 1 < asked) return [];
    const { txid, vout, value: sats, block, firstSeen } = payment;
    const aside = asideOf(contents, facts.decisions.get(outpointOf(payment)));
    return [{ txid, vout, charge, block, firstSeen, sats, runes: contents.runes, aside }];
  });
}

/**
 * The reason why a payment is more than money. Null if it is only money, or if an operator decided to credit it.
 * Outputs that an operator sent away stay set aside.
 */
function asideOf(
  { isInscribed, isSpecial }: PaidContents,
  decision: Pick<AsideDecision, 'kind' | 'found'> | undefined,
): FoundAside | null {
  if (decision !== undefined) return decision.kind === 'credit' ? null : decision.found;
  if (isInscribed) return 'inscribed';
  return isSpecial ? 'special' : null;
}

/** The charge whose address a payment pays, or null if it pays neither charge. */
export function chargeOf(
  { charges }: Pick<TokenOrder, 'charges'>,
  { script }: WatchedPayment,
): ChargeKind | null {
  return chargeKinds.find((kind) => Buffer.compare(charges[kind].script, script) === 0) ?? null;
}

/**
 * Computes the state of an order from its facts. If an order ended in error, its charges keep their states. Later
 * payments are credited, and change nothing else. Pure.
 *
 * @param credits the stored credits that remain valid, and the new credits with the numbers of their runes
 */
export function judgeOrder(
  order: TokenOrder,
  { payments, now, completeAt }: Pick<OrderFacts, 'payments' | 'now' | 'completeAt'>,
  credits: readonly Credit[],
): TokenOrderStanding {
  const there = uncreditedAndThere(payments, credits);
  const isWaiting = there.some(isMined);
  if (order.state === 'error') return { order, lookAt: null, isWaiting };
  const minedBy = new Date(order.expiresAt.getTime() + unminedCountsMs);
  const waiting = there.filter((payment) => isMined(payment) || completeAt === null || completeAt < minedBy);
  const endsAt = endOf(order, payments, waiting, now);
  // payments are noticed late if they arrive while no process follows payments
  const isTimeOver = completeAt !== null && completeAt.getTime() >= endsAt.getTime() + feeLagMs(order);
  const sight = { payments, credits, waiting, isTimeOver };
  const charges = { fee: judgeCharge(order, 'fee', sight), token: judgeCharge(order, 'token', sight) };
  const state = tokenOrderState(
    order.state,
    chargeKinds.map((kind) => charges[kind].state),
  );
  const judged = { ...order, state, charges, endsAt };
  return {
    order: judged,
    lookAt: state === 'pending' ? lookAtOf(judged, waiting, minedBy) : null,
    isWaiting,
  };
}

/**
 * The time at which a waiting order must be examined. Null if a block, or a change of its inscription order, makes the
 * order due instead.
 */
function lookAtOf(order: TokenOrder, waiting: readonly WatchedPayment[], minedBy: Date): Date | null {
  if (!isHeldUp(order, waiting)) return new Date(order.endsAt.getTime() + feeLagMs(order));
  const isForBlock = waiting.some((payment) => !isMined(payment) && isInTime(order, payment));
  return isForBlock ? minedBy : null;
}

/**
 * How long it may take until an inscription order reports sats that are already known, in ms. Rounds of orders take
 * seconds.
 */
const inscriptionLagMs = 60_000;
const feeLagMs = ({ inscription }: TokenOrder): number => (inscription === null ? 0 : inscriptionLagMs);

/**
 * Whether the order waits because of a payment that came in time. The payment is at the order's addresses, or it pays
 * the sats of the inscription order.
 */
const isHeldUp = (order: TokenOrder, waiting: readonly WatchedPayment[]): boolean =>
  order.inscription?.paid === 'seen' || waiting.some((payment) => isInTime(order, payment));

/**
 * How long an order still waits for a payment that was seen and is now missing, in ms. A node may have lost the
 * payment.
 */
const graceMs = 3_600_000;

/**
 * The time at which an order ends. It is at least an hour after the order was last completed, or after a payment that
 * came in time was last seen.
 */
function endOf(
  order: TokenOrder,
  payments: readonly WatchedPayment[],
  waiting: readonly WatchedPayment[],
  now: Date,
): Date {
  const { endsAt, state } = order;
  const isHeld = state === 'completed' || isHeldUp(order, waiting);
  const gone = payments.flatMap((payment) =>
    payment.goneAt !== null && isInTime(order, payment) ? [payment.goneAt.getTime()] : [],
  );
  const lastThere = Math.max(...gone, ...(isHeld ? [now.getTime()] : []));
  return new Date(Math.max(endsAt.getTime(), lastThere + graceMs));
}

const isInTime = ({ expiresAt }: TokenOrder, { firstSeen }: WatchedPayment): boolean =>
  firstSeen <= expiresAt;

function uncreditedAndThere(
  payments: readonly WatchedPayment[],
  credits: readonly Credit[],
): WatchedPayment[] {
  const credited = new Set(credits.map(placeOf));
  return payments.filter(
    (payment) => payment.goneAt === null && !(isMined(payment) && credited.has(placeOf(payment))),
  );
}

interface ChargeSight {
  readonly payments: readonly WatchedPayment[];
  readonly credits: readonly Credit[];
  readonly waiting: readonly WatchedPayment[];
  readonly isTimeOver: boolean;
}

function judgeCharge(
  order: TokenOrder,
  kind: ChargeKind,
  { payments, credits, waiting, isTimeOver }: ChargeSight,
): Charge {
  const charge = order.charges[kind];
  if (kind === 'fee' && order.inscription !== null)
    return { ...charge, state: feeState(charge, order.inscription, isTimeOver) };
  const isOurs = (payment: WatchedPayment): boolean =>
    chargeOf(order, payment) === kind && isInTime(order, payment);
  const credited = creditedUnits(order, kind, credits);
  const facts = { amount: charge.amount, credited, isWaiting: waiting.some(isOurs) };
  const first = payments.find((payment) => payment.goneAt === null && isOurs(payment));
  return { ...charge, state: chargeState(facts, isTimeOver), txid: first?.txid ?? null };
}

/**
 * The state of a fee charge that belongs to an inscription order. It follows from the report of the inscription order.
 */
function feeState({ amount }: Charge, { paid }: InscriptionFee, isTimeOver: boolean): Charge['state'] {
  if (paid === 'cancelled') return 'expired';
  const credited = paid === 'deep' ? amount : paid === 'part' ? 1n : 0n;
  return chargeState({ amount, credited, isWaiting: paid === 'seen' }, isTimeOver);
}

/** Divides the stored credits into those that remain valid and those that must be removed. Pure. */
export function keptCredits(facts: Pick<OrderFacts, 'payments' | 'credits'>): {
  readonly kept: readonly Credit[];
  readonly removed: readonly Credit[];
} {
  const removed = new Set(takenBack(facts));
  return { kept: facts.credits.filter((credit) => !removed.has(credit)), removed: [...removed] };
}
