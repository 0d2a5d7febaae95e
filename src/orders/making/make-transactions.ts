import assert from 'node:assert/strict';
import type pg from 'pg';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { type Holdings, nothingHeld, type RuneAmount, unknownHoldings } from '#kernel/contracts/holdings.ts';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { OrderLayout, RevealLayout } from '#orders/inscribing/order-layout.ts';
import { type OrderRefusal, type OrderTerms, refused } from '#orders/inscribing/order-terms.ts';
import { anchorDust, anchorScript, type OwnOutput, ownOutputFrom } from '#orders/inscribing/plan-amounts.ts';
import { namedOutputs } from '#orders/inscribing/plan-holdings.ts';
import {
  type Arrived,
  type OwnDestination,
  planBurn,
  planCommit,
  planReveal,
} from '#orders/inscribing/plan-transactions.ts';
import { burnParts } from '#orders/inscribing/reveal-parts.ts';
import { inventoryOf, postageOutputCount, revealsPostageFirst } from '#orders/inscribing/settled-terms.ts';
import { insertPackage } from '#orders/mining/packages.store.ts';
import { type Order, readLeaves } from '#orders/order/order.store.ts';
import type { OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import { type RuneRoute, runeRoute } from '#orders/parents/rune-route.ts';
import { quotedLayout } from '#orders/pricing/quoted-layout.ts';
import type { Reservation } from '#orders/stock/reservations.store.ts';
import { nextBlock, ownWatcherOf } from '#orders/watching/watchers.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { OrderSigner } from './order-signer.ts';
import { destination, onlyOne, type Place, store } from './sign-and-store.ts';

/** Finds the lock times that give transactions their prefix (docs/adr/0042-id-prefixes.md); null: not yet. */
export interface LockTimeSearch {
  readonly of: (orderId: string, unsigned: readonly Uint8Array[], prefix: string) => readonly number[] | null;
}

export interface RevealMakers {
  readonly signer: OrderSigner;
  /** How long a miner may be silent about a reveal that nodes do not relay, and then how long it may take. */
  readonly minerHours: number;
  readonly lockTimes: LockTimeSearch;
}

/** What a paid order spends. */
export interface OrderFunds {
  /** As they are spent: always in one order, so that the same payments make the same transaction. */
  readonly payments: readonly WatchedPayment[];
  /** Contents of the payments, by the index. */
  readonly held: HeldPayments;
  /** In the order of its terms. */
  readonly parents: readonly Deposit[];
  /** Its reservations in the inventory, one a file, in their order; null: nothing. */
  readonly stocked: readonly Reservation[] | null;
}

/** Sats that the selected payments lack, because the plan costs more than the quote. */
export interface Shortfall {
  readonly missing: bigint;
}

/**
 * Plans, signs and stores all transactions of a paid order: its reveal, or a commit and its reveals, and what burns
 * their inscriptions. They are the same for the same payments and parents, whenever they are made. Returns the reason
 * where they cannot be made, or the sats that the payments lack. Null: they are made, or will be once their lock times
 * are found and the index has what they spend.
 */
export async function makeReveals(
  tx: pg.ClientBase,
  makers: RevealMakers,
  order: Order,
  funds: OrderFunds,
): Promise<string | Shortfall | null> {
  // where the index is behind a reorganisation, it does not say what they hold
  if (!funds.parents.every(({ isUnspent }) => isUnspent)) return null;
  if (funds.parents.length > 1 && funds.parents.some(({ runes }) => runes === null)) return runesUnknown;
  const planning = withRunes(await planningOf(tx, makers, order, funds));
  const ready = withPrefix(planning, makers.lockTimes);
  if (ready === null) return null;
  if ('reason' in ready) return unmade(ready);
  const made = withBurns(planning, ready);
  if ('reason' in made) return unmade(made);
  const holdings = new Map<string, Holdings>();
  const stored: StoredTransaction[] = [];
  for (const { kind, place, plan } of made) {
    const txid = await store(tx, makers.signer, order, kind, place, plan, { made: holdings });
    stored.push({ kind, plan, txid });
  }
  await packForMiner(tx, order, stored, makers.minerHours);
  // what is ours of them pays for stuck transactions, once a block has it
  const { script } = planning.service;
  await watchScripts(tx, ownWatcherOf(order.id), [{ script, sinceHeight: nextBlock }]);
  failpoint('order-reveals');
  return null;
}

interface StoredTransaction extends Pick<PlannedTransaction, 'kind' | 'plan'> {
  readonly txid: Txid;
}

/** Stores that a miner takes the reveal of an order with its commit, where nodes do not relay it. */
async function packForMiner(
  tx: pg.ClientBase,
  { id, paidTo, terms }: Order,
  stored: readonly StoredTransaction[],
  hours: number,
): Promise<void> {
  const reveals = stored.filter(({ kind }) => kind === 'reveal');
  const heavy = reveals.filter(({ plan }) => plannedWeight(plan) > standardWeightMax);
  if (heavy.length === 0 || !terms.nonStandard) return;
  const commit = stored.find(({ kind }) => kind === 'commit');
  const [reveal] = heavy;
  const isAlone = reveals.length === 1 && paidTo === 'wallet';
  assert(isAlone && commit !== undefined && reveal !== undefined, `order ${id} has one reveal for a miner`);
  await insertPackage(tx, { orderId: id, commit: commit.txid, reveal: reveal.txid, hours });
  // the block of the commit is known by what it has for the reveal
  const [committed] = commit.plan.outputs;
  assert(committed?.kind === 'commit', 'the first output of a commit is for its reveal');
  await watchScripts(tx, ownWatcherOf(id), [{ script: committed.script, sinceHeight: nextBlock }]);
}

const unmade = ({ reason, missing }: OrderRefusal): string | Shortfall =>
  missing === undefined ? reason : { missing };

/**
 * What each parent holds. Beside an output of the inventory, which holds none: what the payments do, which would go to
 * the first output of a reveal, and that may be the inventory's.
 */
function runesToLead({ payments, held, parents, stocked }: OrderFunds): Planning['runes'] {
  if (stocked === null) return parents.map(({ runes }) => runes);
  const paid = payments.map((payment) => held.get(outpointOf(payment))?.runes ?? null);
  return [paid.includes(null) ? null : paid.flatMap((runes) => runes ?? [])];
}

/** An order is taken where runes are known, which may end. */
const runesUnknown =
  'The order has several parents, and this service no longer knows their runes (INDEX_RUNES): those of one would go home with another.';

interface PlannedTransaction {
  readonly kind: OrderTransactionKind;
  readonly place: Place;
  readonly plan: TransactionPlan;
}

type Planned = readonly PlannedTransaction[] | OrderRefusal;

/** The transactions with the lock times that give the reveals the prefix of the order; null: they are not known yet. */
function withPrefix(planning: Planning, lockTimes: LockTimeSearch): Planned | null {
  const { id, request } = planning.order;
  const { inscriptionIdPrefix: prefix } = request;
  let found: readonly number[] = [];
  for (;;) {
    const planned = planAll(planning, found);
    if (prefix === null || 'reason' in planned) return planned;
    const reveals = planned.filter(({ kind }) => kind === 'reveal');
    if (found.length === reveals.length) {
      const ids = reveals.map(({ plan }) => displayHash(planning.signer.unsigned(plan).txid));
      assert(
        ids.every((txid) => txid.startsWith(prefix)),
        'the lock times give the prefix',
      );
      return planned;
    }
    // a reveal spends the parents that the one before it returned: its bytes are known once that has its lock time
    const known = planning.parents.length > 0 ? found.length + 1 : reveals.length;
    const unsigned = reveals
      .slice(0, known)
      .map(({ plan }) => planning.signer.unsigned(unlocked(plan)).bytes);
    const more = lockTimes.of(id, unsigned, prefix);
    if (more === null) return null;
    assert(more.length === known, 'a lock time was found for each reveal');
    found = more;
  }
}

const unlocked = (plan: TransactionPlan): TransactionPlan => ({ ...plan, lockTime: 0 });

interface Planning extends Pick<RevealMakers, 'signer'> {
  readonly order: Order;
  readonly terms: OrderTerms;
  readonly layout: OrderLayout;
  readonly reveals: readonly PlacedReveal[];
  readonly payments: readonly WatchedPayment[];
  readonly held: HeldPayments;
  readonly parents: readonly Arrived[];
  /** One a reveal; null: none. */
  readonly inventory: readonly Arrived[] | null;
  /** What each parent holds, or what the payments of an order of the inventory do. */
  readonly runes: readonly (readonly RuneAmount[] | null)[];
  /** Our output of each transaction. */
  readonly service: OwnDestination;
}

interface PlacedReveal {
  readonly layout: RevealLayout;
  readonly index: number;
  /** The output that it spends through its leaf. */
  readonly commit: OwnDestination;
}

async function planningOf(
  tx: pg.ClientBase,
  { signer }: RevealMakers,
  order: Order,
  funds: OrderFunds,
): Promise<Planning> {
  const { payments, held, parents, stocked } = funds;
  const terms = termsOf(order.terms);
  const layout = quotedLayout(terms, order.quote);
  const leaves = await readLeaves(tx, order.id);
  const key = { branch: 0, index: order.keyIndex } as const;
  return {
    signer,
    order,
    terms,
    layout,
    reveals: layout.reveals.map((reveal, index): PlacedReveal => {
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
  };
}

function stockedOutput(signer: OrderSigner, { txid, vout, value, keyIndex }: Reservation): Arrived {
  const { script, own } = destination(signer, { key: { branch: 2, index: keyIndex }, leafScript: null });
  return { txid, vout, value: BigInt(value), script, ...own };
}

/** @param lockTimes of the first reveals, as far as they are known */
function planAll(planning: Planning, lockTimes: readonly number[]): Planned {
  const { order, reveals, payments, held } = planning;
  const key = { branch: 0, index: order.keyIndex } as const;
  if (order.paidTo === 'wallet')
    return planCommitted(planning, arrivedOf(payments, held, { key, leafScript: null }), lockTimes);
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

function planOne(
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

/** Where a reveal leads runes; null: they go there by themselves. */
function routeOf({ terms, runes }: Planning, layout: RevealLayout): RuneRoute | null {
  const sat = inventoryOf(terms, layout);
  if (sat === null)
    return runeRoute(runes, revealsPostageFirst(terms) ? postageOutputCount(terms, layout) : 0);
  // a commit gives the runes of its payments to its first output, which the first reveal spends
  if (layout.first > 0) return null;
  // what the inventory gets back before its inscription is one output
  return runeRoute(runes, sat.place > 0n ? 1 : 0);
}

const revealOf = ({ index, layout }: PlacedReveal, plan: TransactionPlan): PlannedTransaction => ({
  kind: 'reveal',
  place: { index, count: layout.count },
  plan,
});

/**
 * With what burns the inscriptions of each reveal right after it: reveals have their txids, as they have their lock
 * times.
 */
function withBurns({ signer, terms, service }: Planning, planned: readonly PlannedTransaction[]): Planned {
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
    // a runestone is of this kind, too
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

/** A commit of the wallet, and the reveals that spend it. The parents go from one reveal to the next. */
function planCommitted(
  planning: Planning,
  payments: readonly [Arrived, ...Arrived[]],
  lockTimes: readonly number[],
): Planned {
  const { order, signer, terms, layout, reveals, service } = planning;
  const commits = reveals.map(({ commit }) => commit);
  // what pays fees must not come to the charge's address: it would be a payment
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

/** A refusal that more money does not change: the sats of each reveal are those of the quote. */
const runesTooDear =
  "It costs more to lead the parents' runes home than the service earns by the order, and allowedSatributes leaves its reveals no other sats.";

/**
 * Adds to the layout of a commit what its reveals cost where they lead runes of parents home, which is not in the
 * quote. The layout stays as quoted where the order wants certain sats: its inscriptions were placed by that.
 */
function withRunes(planning: Planning): Planning {
  const { order, layout, reveals } = planning;
  if (order.paidTo !== 'wallet' || order.request.allowedSatributes !== null) return planning;
  return { ...planning, layout: { ...layout, reveals: reveals.map((reveal) => dearer(planning, reveal)) } };
}

/** Plans a reveal before there is a commit: its costs, and what it leaves to us, depend on no txid. */
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

/** Our output of a planned reveal, or of what burns its inscriptions. */
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

interface CommittedOutputs extends Pick<TransactionPlan, 'outputs'> {
  readonly txid: Txid;
  /** Their contents. */
  readonly named: readonly Holdings[];
}

/** What a commit has for a reveal: the output with its leaf, and the next one where that pays the fee. */
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

/** The parents as the next reveal finds them: where this one returned them to. */
function returnedBy(
  plan: TransactionPlan,
  signer: OrderSigner,
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
  payments: readonly WatchedPayment[],
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
