import assert from 'node:assert/strict';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { OrderLayout, RevealLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderRefusal, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { anchorDust, type OwnOutput, ownOutputFrom } from '#orders/inscribing/plan-amounts.ts';
import { type Arrived, type OwnDestination, planReveal } from '#orders/inscribing/plan-transactions.ts';
import { burnParts } from '#orders/inscribing/reveal-parts.ts';
import { inventoryOf, postageOutputCount, revealsPostageFirst } from '#orders/inscribing/settled-terms.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import { type RuneRoute, runeRoute } from '#orders/parents/rune-route.ts';
import { type QuotedPlan, quotedPlan } from '#orders/pricing/quoted-layout.ts';
import type { Reservation } from '#orders/stock/reservations.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { OrderSigner } from './order-signer.ts';
import { destination } from './sign-and-store.ts';

/** The functions of the signer that compute scripts and txids. Planning needs no private key. */
export type PlanningSigner = Pick<OrderSigner, 'scriptOf' | 'unsigned'>;

export type PlannedOrder = Pick<
  Order,
  'id' | 'paidTo' | 'keyIndex' | 'ownIndex' | 'terms' | 'quote' | 'request'
>;

type PaidOutput = Pick<WatchedPayment, 'txid' | 'vout' | 'value' | 'script'>;
type StockedOutput = Pick<Reservation, 'txid' | 'vout' | 'value' | 'keyIndex'>;

/** A parent, with the output that arrived at its deposit. */
interface LentParent extends Pick<Deposit, 'inscriptions' | 'runes'> {
  readonly at: Pick<Deposit['at'], 'keyIndex'>;
  readonly payment: PaidOutput;
}

/** Outputs that a delivery spends. */
export interface DeliveryFunds {
  /** Payments in a fixed sequence, so that the same payments always make the same transaction. */
  readonly payments: readonly PaidOutput[];
  /** Contents of the payments, from the index. */
  readonly held: HeldPayments;
  /** Parents, in the sequence of the terms. */
  readonly parents: readonly LentParent[];
  /** One inventory output for each file, in the sequence of the files. Null if the order uses no inventory outputs. */
  readonly stocked: readonly StockedOutput[] | null;
}

/**
 * The reason why the runes of these parents cannot be returned with them. Null if they can be returned. Runes are known
 * when an order is accepted, but may be unknown later.
 */
export const whyRunesUnknown = (parents: DeliveryFunds['parents']): string | null =>
  parents.length > 1 && parents.some(({ runes }) => runes === null) ? runesUnknown : null;

const runesUnknown =
  'The order has several parents, but this service no longer knows their runes (INDEX_RUNES), so it could return runes of one parent with another parent.';

/** All inputs from which the transactions of a delivery are planned. */
export interface Planning {
  readonly signer: PlanningSigner;
  readonly order: PlannedOrder;
  readonly terms: OrderTerms;
  readonly layout: OrderLayout;
  /** Reveals of the delivery. Empty for an order of mints. */
  readonly reveals: readonly PlacedReveal[];
  readonly payments: DeliveryFunds['payments'];
  readonly held: HeldPayments;
  readonly parents: readonly Arrived[];
  /** One inventory output for each reveal. Null if the order uses no inventory outputs. */
  readonly inventory: readonly Arrived[] | null;
  /** Runes of each parent. For an order on inventory sats: runes of its payments. */
  readonly runes: readonly (readonly RuneAmount[] | null)[];
  /** Destination of our output in each transaction. */
  readonly service: OwnDestination;
}

/** A reveal, with the output that it spends. */
export interface PlacedReveal {
  readonly layout: RevealLayout;
  readonly index: number;
  /** The commit's output that the reveal spends by its leaf. */
  readonly commit: OwnDestination;
}

/**
 * Collects all inputs from which the transactions of a delivery are planned. The same payments and parents always give
 * the same transactions. Pure.
 *
 * @param leaves leaves of the reveals, in the sequence of the reveals
 * @param plan plan of the order, if the caller knows it
 */
export function planningOf(
  signer: PlanningSigner,
  order: PlannedOrder,
  funds: DeliveryFunds,
  leaves: readonly Uint8Array[],
  plan: QuotedPlan = quotedPlan(order),
): Planning {
  const { payments, held, parents, stocked } = funds;
  const { terms, layout } = plan;
  const key = { branch: 0, index: order.keyIndex } as const;
  return withRunes({
    signer,
    order,
    terms,
    layout,
    reveals: (terms.mint === null ? layout.reveals : []).map((reveal, index): PlacedReveal => {
      const leafScript = leaves[index];
      assert(leafScript !== undefined, `order ${order.id} has a leaf for each reveal`);
      return { layout: reveal, index, commit: destination(signer, { key, leafScript }) };
    }),
    payments,
    held,
    parents: parents.map(({ at, payment, inscriptions, runes }): Arrived => {
      const { txid, vout, value, script } = payment;
      const own = { key: { branch: 0, index: at.keyIndex }, leafScript: null } as const;
      return { txid, vout, value, script, ...own, holds: { inscriptions, runes } };
    }),
    inventory: stocked?.map((sat) => stockedOutput(signer, sat)) ?? null,
    runes: runesToLead(funds),
    service: destination(signer, { key: { branch: 1, index: order.ownIndex }, leafScript: null }),
  });
}

/**
 * The runes that reveals must route to certain outputs. Without inventory outputs, these are the runes of each parent.
 * With an inventory output, which has no runes, these are the runes of the payments. Without routing, the runes would
 * go to a reveal's first output, which may belong to the inventory.
 */
function runesToLead({ payments, held, parents, stocked }: DeliveryFunds): Planning['runes'] {
  if (stocked === null) return parents.map(({ runes }) => runes);
  const paid = payments.map((payment) => held.get(outpointOf(payment))?.runes ?? null);
  return [paid.includes(null) ? null : paid.flatMap((runes) => runes ?? [])];
}

function stockedOutput(signer: PlanningSigner, { txid, vout, value, keyIndex }: StockedOutput): Arrived {
  const { script, own } = destination(signer, { key: { branch: 2, index: keyIndex }, leafScript: null });
  return { txid, vout, value: BigInt(value), script, ...own };
}

/** Plans one reveal and its inputs. Pure. */
export function planOne(
  planning: Planning,
  { layout, index }: PlacedReveal,
  payments: readonly [Arrived, ...Arrived[]],
  parents: readonly Arrived[],
  lockTimes: readonly number[],
): TransactionPlan | OrderRefusal {
  const { terms, service } = planning;
  const inventory = planning.inventory?.[index];
  const route = routeOf(planning, layout);
  const plan = planReveal(terms, layout, {
    payments,
    parents,
    service,
    ...(inventory === undefined ? {} : { inventory }),
    ...(route === null ? {} : { route }),
  });
  return 'reason' in plan ? plan : { ...plan, lockTime: lockTimes[index] ?? 0 };
}

/** The outputs to which a reveal routes runes. Null if no runestone is needed. */
function routeOf({ terms, runes }: Planning, layout: RevealLayout): RuneRoute | null {
  const sat = inventoryOf(terms, layout);
  if (sat === null)
    return runeRoute(runes, revealsPostageFirst(terms) ? postageOutputCount(terms, layout) : 0);
  // a commit passes the runes of its payments to its first output, which the first reveal spends
  if (layout.first > 0) return null;
  // sats before the inscription return to the inventory as one output
  return runeRoute(runes, sat.place > 0n ? 1 : 0);
}

/**
 * Adds the cost of runestones that return runes of parents to the layout of a commit, because the quote does not
 * include this cost. If the order wants certain sats, the layout is unchanged, because the old layout placed the
 * inscriptions.
 */
function withRunes(planning: Planning): Planning {
  const { order, layout, reveals } = planning;
  const { paidTo, request } = order;
  // mints route no runes, because runes of a payment go to the receiver
  const isAsQuoted =
    paidTo !== 'wallet' || request.allowedSatributes !== null || planning.terms.mint !== null;
  if (isAsQuoted) return planning;
  return { ...planning, layout: { ...layout, reveals: reveals.map((reveal) => dearer(planning, reveal)) } };
}

/** Plans a reveal before its commit exists, because its costs and its output for us do not depend on a txid. */
function dearer(planning: Planning, placed: PlacedReveal): RevealLayout {
  const { layout, commit } = placed;
  const [payment] = planning.payments;
  assert(payment !== undefined, 'a commit spends something');
  if (routeOf(planning, layout) === null) return layout;
  const { committed, feeInput } = layout;
  const paid = { txid: payment.txid, vout: 0, script: commit.script, ...commit.own };
  const more = feeInput === null ? [] : [{ ...paid, vout: 1, value: feeInput }];
  const made = planOne(planning, placed, [{ ...paid, value: committed }, ...more], planning.parents, []);
  if (!('reason' in made)) return { ...layout, own: { ...layout.own, ...ownOf(planning, layout, made) } };
  const { missing } = made;
  if (missing === undefined) return layout;
  return {
    ...layout,
    ...(feeInput === null ? { committed: committed + missing } : { feeInput: feeInput + missing }),
    own: { ...layout.own, kind: 'anchor', value: anchorDust },
  };
}

/** Our output of a planned reveal. If the inscriptions are burned, our output of the burn. */
function ownOf(
  { terms }: Planning,
  layout: RevealLayout,
  { outputs }: TransactionPlan,
): Pick<OwnOutput, 'kind' | 'value'> {
  const ours = outputs.find(({ kind }) => kind === 'service' || kind === 'anchor');
  assert(ours !== undefined, 'a reveal has an output of ours');
  const { value } = ours;
  if (!terms.burn) return { kind: ours.kind === 'service' ? 'service' : 'anchor', value };
  const own = ownOutputFrom(burnParts(postageOutputCount(terms, layout)), terms.feeRate, value);
  assert(own !== null, 'our output of a reveal pays for its burn');
  return own;
}
