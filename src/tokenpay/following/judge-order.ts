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

/** A payment in a block. */
export type MinedPayment = WatchedPayment & { readonly block: BlockRef };

/** The facts that decide about an order. */
export interface OrderFacts {
  /** All outputs to the order's addresses that were seen. */
  readonly payments: readonly WatchedPayment[];
  /** All stored credits of the order. */
  readonly credits: readonly Credit[];
  /**
   * Contents of outputs in blocks that are not credited yet, by outpoint. null: the index does not know the contents so
   * far.
   */
  readonly contents: ReadonlyMap<string, PaidContents | null>;
  /** Decisions of operators about outputs that were set aside, by outpoint. */
  readonly decisions: ReadonlyMap<string, Pick<AsideDecision, 'kind' | 'found'>>;
  /** Height of the last block that was searched for payments. */
  readonly tip: number;
  readonly now: Date;
  /** The time up to which all payments are known. null: unknown so far, so no order ends. */
  readonly completeAt: Date | null;
}

/** A credit whose runes have no number in our tables yet. */
export interface NewCredit extends Omit<Credit, 'runes'> {
  readonly runes: readonly ReceivedRune[];
}

/**
 * Payments in blocks without a stored credit of the same block. Their contents must be looked up in the index. Pure.
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

/** Credits whose payments are no longer in their blocks. Pure. */
function takenBack({ payments, credits }: Pick<OrderFacts, 'payments' | 'credits'>): Credit[] {
  const mined = new Set(payments.flatMap((payment) => (isMined(payment) ? [placeOf(payment)] : [])));
  return credits.filter((credit) => !mined.has(placeOf(credit)));
}

const isMined = (payment: WatchedPayment): payment is MinedPayment => payment.block !== null;

/** Credits of payments that are deep enough and whose contents the index knows. Pure. */
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
 * The reason why a payment is more than money. null: it is money, or the operator decided so. Outputs that were sent
 * away stay set aside.
 */
function asideOf(
  { isInscribed, isSpecial }: PaidContents,
  decision: Pick<AsideDecision, 'kind' | 'found'> | undefined,
): FoundAside | null {
  if (decision !== undefined) return decision.kind === 'credit' ? null : decision.found;
  if (isInscribed) return 'inscribed';
  return isSpecial ? 'special' : null;
}

/** The charge whose address a payment pays. null: neither charge. */
export function chargeOf(
  { charges }: Pick<TokenOrder, 'charges'>,
  { script }: WatchedPayment,
): ChargeKind | null {
  return chargeKinds.find((kind) => Buffer.compare(charges[kind].script, script) === 0) ?? null;
}

/**
 * Computes the state of an order from its facts. An order that ended in error keeps the states of its charges. Later
 * payments are credited, and change nothing else. Pure.
 *
 * @param credits the stored credits that remain valid, and the new ones with numbers of their runes
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
  // payments that arrive while no process follows payments become known late
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

/** The time at which a waiting order is examined. null: a block, or its inscription order, makes it due instead. */
function lookAtOf(order: TokenOrder, waiting: readonly WatchedPayment[], minedBy: Date): Date | null {
  if (!isHeldUp(order, waiting)) return new Date(order.endsAt.getTime() + feeLagMs(order));
  const isForBlock = waiting.some((payment) => !isMined(payment) && isInTime(order, payment));
  return isForBlock ? minedBy : null;
}

/** How long an inscription order may take to report known sats, in ms. Rounds of orders take seconds. */
const inscriptionLagMs = 60_000;
const feeLagMs = ({ inscription }: TokenOrder): number => (inscription === null ? 0 : inscriptionLagMs);

/**
 * Whether a payment that came in time still waits. It is at the order's addresses, or it is the sats of its inscription
 * order.
 */
const isHeldUp = (order: TokenOrder, waiting: readonly WatchedPayment[]): boolean =>
  order.inscription?.paid === 'seen' || waiting.some((payment) => isInTime(order, payment));

/** How long an order waits for a payment that was seen, but that a node may have lost, in ms. */
const graceMs = 3_600_000;

/** The time at which an order ends: an hour after it was completed, or after a payment in time was last seen. */
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

/** The state of a fee charge that belongs to an inscription order, by the report of that order. */
function feeState({ amount }: Charge, { paid }: InscriptionFee, isTimeOver: boolean): Charge['state'] {
  if (paid === 'cancelled') return 'expired';
  const credited = paid === 'deep' ? amount : paid === 'part' ? 1n : 0n;
  return chargeState({ amount, credited, isWaiting: paid === 'seen' }, isTimeOver);
}

/** Splits the stored credits into the ones that remain valid and the removed ones. Pure. */
export function keptCredits(facts: Pick<OrderFacts, 'payments' | 'credits'>): {
  readonly kept: readonly Credit[];
  readonly removed: readonly Credit[];
} {
  const removed = new Set(takenBack(facts));
  return { kept: facts.credits.filter((credit) => !removed.has(credit)), removed: [...removed] };
}
