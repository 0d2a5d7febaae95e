import assert from 'node:assert/strict';
import { type Holdings, nothingHeld, unknownHoldings } from '#kernel/contracts/holdings.ts';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { type OrderRefusal, refused } from '#orders/inscribing/order-terms.ts';
import { anchorScript } from '#orders/inscribing/plan-amounts.ts';
import { namedOutputs } from '#orders/inscribing/plan-holdings.ts';
import { planMint } from '#orders/inscribing/plan-mint.ts';
import { type Arrived, planBurn, planCommit } from '#orders/inscribing/plan-transactions.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import {
  type DeliveryFunds,
  type PlacedReveal,
  type Planning,
  type PlanningSigner,
  planOne,
} from './delivery-planning.ts';
import { onlyOne, type Place } from './sign-and-store.ts';

export interface PlannedTransaction {
  readonly kind: OrderTransactionKind;
  readonly place: Place;
  readonly plan: TransactionPlan;
}

export type Planned = readonly PlannedTransaction[] | OrderRefusal;

/**
 * Plans the commit and the reveals of a delivery, in the sequence in which they are sent. If the payments lack sats,
 * returns a refusal with the missing number. Pure.
 *
 * @param lockTimes lock times of the first reveals, as far as they are known
 */
export function planDelivery(planning: Planning, lockTimes: readonly number[]): Planned {
  const { order, reveals, payments, held } = planning;
  const key = { branch: 0, index: order.keyIndex } as const;
  if (order.paidTo === 'wallet') {
    const arrived = arrivedOf(payments, held, { key, leafScript: null });
    return planning.terms.mint === null
      ? planCommitted(planning, arrived, lockTimes)
      : planMinted(planning, arrived);
  }
  const [only] = reveals;
  assert(only !== undefined && reveals.length === 1, 'a direct order has one reveal');
  const plan = planOne(
    planning,
    only,
    arrivedOf(payments, held, only.commit.own),
    planning.parents,
    lockTimes,
  );
  return 'reason' in plan ? plan : [revealOf(only, plan)];
}

const revealOf = ({ index, layout }: PlacedReveal, plan: TransactionPlan): PlannedTransaction => ({
  kind: 'reveal',
  place: { index, count: layout.count },
  plan,
});

/**
 * Adds the burn of its inscriptions after each reveal. The reveals already have their lock times, and therefore their
 * txids. Pure.
 */
export function withBurns(
  { signer, terms, service }: Planning,
  planned: readonly PlannedTransaction[],
): Planned {
  if (!terms.burn) return planned;
  const all: PlannedTransaction[] = [];
  for (const reveal of planned) {
    all.push(reveal);
    if (reveal.kind !== 'reveal') continue;
    const { txid } = signer.unsigned(reveal.plan);
    const named = namedOutputs(reveal.plan, txid);
    const outputs = reveal.plan.outputs.map(({ kind, value, script }, vout) => ({
      kind,
      made: { txid, vout, value, script, holds: named[vout] ?? nothingHeld },
    }));
    // compare the script, because a runestone has the same kind
    const anchors = outputs.filter(
      ({ kind, made }) => kind === 'burn' && Buffer.compare(made.script, anchorScript) === 0,
    );
    const payment = outputs.find(({ kind }) => kind === 'service');
    assert(payment !== undefined, 'our output of a reveal pays for its burn');
    const plan = planBurn(terms, {
      anchors: anchors.map(({ made }) => made),
      payment: { ...payment.made, ...service.own },
      service,
    });
    if ('reason' in plan) return plan;
    all.push({ kind: 'burn', place: reveal.place, plan });
  }
  return all;
}

/** Plans a commit of the wallet, and the reveals that spend it. Each reveal passes the parents to the next one. */
function planCommitted(
  planning: Planning,
  payments: readonly [Arrived, ...Arrived[]],
  lockTimes: readonly number[],
): Planned {
  const { order, signer, terms, layout, reveals, service } = planning;
  const commits = reveals.map(({ commit }) => commit);
  // the output for fees is not at the charge's address, because there it would be treated as a payment
  const plan = planCommit(terms, layout, { payments, commits, feeInputs: service, change: service });
  if ('reason' in plan) return plan;
  const { txid } = signer.unsigned(plan);
  const named = namedOutputs(plan, txid);
  const planned: PlannedTransaction[] = [{ kind: 'commit', place: onlyOne, plan }];
  let parents = planning.parents;
  for (const reveal of reveals) {
    const made = planOne(planning, reveal, committedTo(reveal, { ...plan, txid, named }), parents, lockTimes);
    if ('reason' in made) {
      const isLasting = made.missing !== undefined && order.request.allowedSatributes !== null;
      return isLasting ? refused('payment-short', runesTooDear) : made;
    }
    planned.push(revealOf(reveal, made));
    parents = returnedBy(made, signer, parents);
  }
  return planned;
}

/** Plans a commit with an output at our own key for each mint, and the mints that spend these outputs. */
function planMinted(
  { terms, layout, service, signer }: Planning,
  payments: readonly [Arrived, ...Arrived[]],
): Planned {
  const commits = layout.reveals.map(() => service);
  const plan = planCommit(terms, layout, { payments, commits, feeInputs: service, change: service });
  if ('reason' in plan) return plan;
  const { txid } = signer.unsigned(plan);
  const named = namedOutputs(plan, txid);
  const mints = layout.reveals.map((_, vout): PlannedTransaction => {
    const committed = plan.outputs[vout];
    assert(committed?.kind === 'commit', 'the first outputs of a commit are for its mints');
    const { value, script } = committed;
    const arrived = { txid, vout, value, script, ...service.own, holds: named[vout] ?? nothingHeld };
    return { kind: 'reveal', place: { index: vout, count: 0 }, plan: planMint(terms, arrived, service) };
  });
  return [{ kind: 'commit', place: onlyOne, plan }, ...mints];
}

/** A refusal that more money cannot change, because the quote fixes the sats of each reveal. */
const runesTooDear =
  "The return of the parents' runes costs more than the service earns from the order, and allowedSatributes leaves no other sats for its reveals.";

interface CommittedOutputs extends Pick<TransactionPlan, 'outputs'> {
  readonly txid: Txid;
  /** Contents of the outputs. */
  readonly named: readonly Holdings[];
}

/**
 * Outputs of a commit for a reveal: the output with the reveal's leaf, and the next output if the next output pays the
 * fee.
 */
function committedTo(
  { layout, commit }: PlacedReveal,
  { outputs, txid, named }: CommittedOutputs,
): readonly [Arrived, ...Arrived[]] {
  const first = outputs.findIndex(({ own }) => own?.leafScript === commit.own.leafScript);
  const arrived = outputs
    .slice(first, first + (layout.feeInput === null ? 1 : 2))
    .map(({ value, script, own }, place): Arrived => {
      assert(own !== undefined, 'the commit has an output for each reveal');
      const vout = first + place;
      return { txid, vout, value, script, ...own, holds: named[vout] ?? nothingHeld };
    });
  const [committed, ...others] = arrived;
  assert(first !== -1 && committed !== undefined, 'the commit has an output for each reveal');
  return [committed, ...others];
}

/** The parents in the outputs where the last reveal returned them, in the form that the next reveal spends. */
function returnedBy(
  plan: TransactionPlan,
  signer: PlanningSigner,
  parents: readonly Arrived[],
): readonly Arrived[] {
  if (parents.length === 0) return parents;
  const { txid } = signer.unsigned(plan);
  const first = plan.outputs.findIndex(({ kind }) => kind === 'parent');
  const named = namedOutputs(plan, txid);
  return parents.map((parent, index): Arrived => {
    const vout = first + index;
    return { ...parent, txid, vout, holds: named[vout] ?? nothingHeld };
  });
}

function arrivedOf(
  payments: DeliveryFunds['payments'],
  held: HeldPayments,
  own: OwnScript,
): readonly [Arrived, ...Arrived[]] {
  const [first, ...others] = payments.map((payment): Arrived => {
    const { txid, vout, value, script } = payment;
    return { txid, vout, value, script, ...own, holds: held.get(outpointOf(payment)) ?? unknownHoldings };
  });
  assert(first !== undefined, 'a transaction spends something');
  return [first, ...others];
}
