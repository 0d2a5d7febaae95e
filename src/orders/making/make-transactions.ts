import assert from 'node:assert/strict';
import type pg from 'pg';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { insertEtching } from '#orders/etching/etchings.store.ts';
import { claimedName } from '#orders/inscribing/etching-parts.ts';
import type { OrderRefusal } from '#orders/inscribing/order-terms.ts';
import { insertPackage } from '#orders/mining/packages.store.ts';
import { insertMints } from '#orders/minting/ordered-mints.store.ts';
import { type Order, readLeaves } from '#orders/order/order.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import type { Reservation } from '#orders/stock/reservations.store.ts';
import { ownWatcherOf } from '#orders/watching/watchers.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { type DeliveryFunds, type Planning, planningOf, whyRunesUnknown } from './delivery-planning.ts';
import type { OrderSigner } from './order-signer.ts';
import { type Planned, type PlannedTransaction, planDelivery, withBurns } from './plan-delivery.ts';
import { store } from './sign-and-store.ts';

/**
 * Finds the lock times that give transactions their id prefix (docs/adr/0042-id-prefixes.md). Returns null if the lock
 * times are not found yet.
 */
export interface LockTimeSearch {
  readonly of: (orderId: string, unsigned: readonly Uint8Array[], prefix: string) => readonly number[] | null;
}

export interface RevealMakers {
  readonly signer: OrderSigner;
  /**
   * How many hours a miner has to reply about a reveal that nodes do not relay. After that, it has as many hours to
   * mine the reveal.
   */
  readonly minerHours: number;
  readonly lockTimes: LockTimeSearch;
}

/** Outputs that a paid order spends. */
export interface OrderFunds extends DeliveryFunds {
  readonly payments: readonly WatchedPayment[];
  readonly parents: readonly Deposit[];
  /**
   * Reservations in the inventory, one for each file, in the sequence of the files. Null if there are no reservations.
   */
  readonly stocked: readonly Reservation[] | null;
}

/** Sats that the selected payments lack because the plan costs more than the quote. */
export interface Shortfall {
  readonly missing: bigint;
}

/**
 * Plans, signs and stores all transactions of a paid order: its reveal, or a commit and its reveals, and the burns of
 * their inscriptions. The same payments and parents always give the same transactions. Returns the reason if this is
 * not possible, or the sats that the payments lack. Returns null if the transactions were stored, or if a later call
 * must store them, once their lock times are found and the index has their inputs.
 */
export async function makeReveals(
  tx: pg.ClientBase,
  makers: RevealMakers,
  order: Order,
  funds: OrderFunds,
): Promise<string | Shortfall | null> {
  // after a reorganisation the index may be behind, and then does not know the contents of the parents
  if (!funds.parents.every(({ isUnspent }) => isUnspent)) return null;
  const unknown = whyRunesUnknown(funds.parents);
  if (unknown !== null) return unknown;
  const planning = planningOf(makers.signer, order, funds, await readLeaves(tx, order.id));
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
  await holdEtching(tx, planning, stored);
  await holdMints(tx, planning, stored);
  // watch our outputs, because they pay for stuck transactions once they are in a block
  const { script } = planning.service;
  await watchScripts(tx, ownWatcherOf(order.id), [{ script, sinceHeight: nextBlock }]);
  failpoint('order-reveals');
  return null;
}

interface StoredTransaction extends Pick<PlannedTransaction, 'kind' | 'plan'> {
  readonly txid: Txid;
}

/**
 * Watches the runestone of a reveal that etches, so that its block is noticed. If the reveal claims a name, it is
 * stored as waiting for its commit. The block of the commit is noticed by the commit's output.
 */
async function holdEtching(
  tx: pg.ClientBase,
  { order: { id }, terms }: Planning,
  stored: readonly StoredTransaction[],
): Promise<void> {
  if (terms.etching === null) return;
  const [commit, reveal] = [
    stored.find(({ kind }) => kind === 'commit'),
    stored.find(({ kind }) => kind === 'reveal'),
  ];
  assert(
    commit !== undefined && reveal !== undefined,
    `order ${id} has a commit and a reveal for its etching`,
  );
  const runestone = reveal.plan.outputs.at(-1);
  assert(runestone?.value === 0n, 'the last output of a reveal that etches is the runestone');
  await watchScripts(tx, ownWatcherOf(id), [{ script: runestone.script, sinceHeight: nextBlock }]);
  const rune = claimedName(terms);
  if (rune === null) return;
  await insertEtching(tx, { orderId: id, commit: commit.txid, reveal: reveal.txid, rune });
  await watchCommit(tx, id, commit);
}

/** Stores the mints of an order. They are sent when blocks and the mempool have room for them. */
async function holdMints(
  tx: pg.ClientBase,
  { order: { id }, terms: { mint } }: Planning,
  stored: readonly StoredTransaction[],
): Promise<void> {
  if (mint === null) return;
  const commit = stored.find(({ kind }) => kind === 'commit');
  const mints = stored.filter(({ kind }) => kind === 'reveal');
  assert(
    commit !== undefined && mints.length === mint.count,
    `order ${id} has a commit and all of its mints`,
  );
  const txids = mints.map(({ txid }) => txid);
  await insertMints(tx, { orderId: id, commit: commit.txid, rune: mint.rune, txids });
}

/** Stores the order's reveal with its commit for a miner, if nodes do not relay the reveal. */
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
  await watchCommit(tx, id, commit);
}

/** Watches the commit's output for its reveal, so that the commit's block is noticed. */
async function watchCommit(
  tx: pg.ClientBase,
  id: string,
  { plan }: Pick<StoredTransaction, 'plan'>,
): Promise<void> {
  const [committed] = plan.outputs;
  assert(committed?.kind === 'commit', 'the first output of a commit is for its reveal');
  await watchScripts(tx, ownWatcherOf(id), [{ script: committed.script, sinceHeight: nextBlock }]);
}

const unmade = ({ reason, missing }: OrderRefusal): string | Shortfall =>
  missing === undefined ? reason : { missing };

/**
 * The transactions, with lock times that give the reveals the prefix of the order. Null if not all lock times are known
 * yet.
 */
function withPrefix(planning: Planning, lockTimes: LockTimeSearch): Planned | null {
  const { id, request } = planning.order;
  const { inscriptionIdPrefix: prefix } = request;
  let found: readonly number[] = [];
  for (;;) {
    const planned = planDelivery(planning, found);
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
    // a reveal spends the parents that the previous reveal returned, so its bytes depend on that reveal's lock time
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
