import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { guarded } from '#orders/bumping/guarded.ts';
import { supersedeOfOrders } from '#orders/order/order-transactions.store.ts';
import { broadcast } from '#orders/sending/broadcast.ts';
import { mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { type NodeStanding, urgentFeeRate } from '#orders/sending/node-standing.ts';
import type { Refusal } from '#orders/sending/refusal.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { countUnscanned } from '#payments/store/watches.store.ts';
import { lockPayout, noteMissing, noteStuck, openPayouts, putState } from '#payouts/payout/payout.store.ts';
import type { Payout, PayoutState, PayoutTransaction } from '#payouts/payout/payout.ts';
import { refundWatchers } from '#purse/destinations/own-scripts.ts';
import { heldReason, type PaymentHold, readHold } from '#purse/holding/payment-hold.store.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import { markSent, readSigned } from '#purse/transactions/wallet-transactions.store.ts';
import { makePayout } from './make-payout.ts';
import type { PayoutParts } from './payout-parts.ts';
import { type SettledPayout, settlePayout } from './settle-payout.ts';

export interface FollowedPayoutParts extends PayoutParts {
  /**
   * How long a transaction of a payout waits for a block before its fee is raised, in ms (ORDER_BUMP_AFTER_MINUTES).
   */
  readonly bumpAfterMs: number;
  /** Called in each round with the hold of payments, or with null if payments are not on hold. */
  readonly onHold?: (hold: PaymentHold | null) => void;
}

/**
 * Updates the state of payouts from blocks and from the node. It runs together with the processing of orders, on the
 * same connection.
 */
export class PayoutRounds {
  readonly #parts: FollowedPayoutParts;
  readonly #repeats = new Repeats();
  /**
   * The state of each payout when it was last settled, since the last block or minute. If a round changes the state of
   * a payout, the payout is settled again.
   */
  readonly #seen = new Map<string, PayoutState>();
  /** Whether payments are on hold in this round. Payouts without a signed transaction then wait. */
  #isOnHold = false;

  constructor(parts: FollowedPayoutParts) {
    this.#parts = parts;
  }

  /**
   * Runs one round over all open payouts. Throws if the database or the node does not answer. Any other fault of a
   * payout is logged, and does not stop the other payouts.
   *
   * @param standing state of the node, or null if the node does not answer
   * @param isAll whether the round also rebroadcasts each transaction that is not in a block, or raises its fee
   */
  async look(standing: NodeStanding | null, isAll: boolean): Promise<void> {
    const { client, log, onHold } = this.#parts;
    const hold = await readHold(client);
    this.#isOnHold = hold !== null;
    onHold?.(hold);
    await this.#form();
    if (isAll && standing !== null && hold === null) await this.#consolidate(standing);
    if (isAll) this.#seen.clear();
    for (const payout of await openPayouts(client)) {
      const { id, state } = payout;
      if (waitsForBlock(payout) && this.#seen.get(id) === state) continue;
      this.#seen.set(id, state);
      const error = await guarded(() => this.#bringOn(id, standing, isAll));
      if (error === null) continue;
      await noteStuck(client, id, `The payout cannot be made or sent: ${error.message}`);
      if (this.#repeats.isDue(`${id} ${error.message}`))
        log.error({ err: error, payout: id }, 'a payout failed; the next round tries again');
    }
  }

  async #form(): Promise<void> {
    const { client, withdrawals, log } = this.#parts;
    const notFormed = await guarded(async () => withdrawals?.form(client));
    if (notFormed !== null && this.#repeats.isDue(notFormed.message))
      log.error({ err: notFormed }, 'withdrawals could not be put into batches; the next round tries again');
  }

  async #consolidate(standing: NodeStanding): Promise<void> {
    const { withdrawals, log } = this.#parts;
    const failed = await guarded(async () => withdrawals?.consolidate(this.#parts, standing));
    if (failed !== null && this.#repeats.isDue(failed.message))
      log.error({ err: failed }, 'coins of accounts could not be joined; the next round tries again');
  }

  async #bringOn(id: string, standing: NodeStanding | null, isAll: boolean): Promise<void> {
    const { client } = this.#parts;
    let settled = await withTransaction(client, (tx) => this.#settle(tx, id));
    if (settled === null || standing === null || settled.payout.state === 'mined') return;
    if (settled.payout.state === 'asked') {
      if (!(await this.#makeFirst(settled, standing, isAll))) return;
      settled = await withTransaction(client, (tx) => this.#settle(tx, id));
    }
    if (settled === null) return;
    const newest = newestOf(settled);
    if (newest === undefined || (settled.payout.state === 'sent' && !isAll)) return;
    await this.#send(settled, newest, standing, isAll);
  }

  /** Makes a transaction of a payout that has no transaction. Returns whether a transaction was stored. */
  async #makeFirst(settled: SettledPayout, standing: NodeStanding, isAll: boolean): Promise<boolean> {
    const { id, stuck } = settled.payout;
    if (this.#isOnHold) {
      await noteStuck(this.#parts.client, id, heldReason);
      return false;
    }
    // a stuck payout is tried only in full rounds, because reasons change with blocks, fees and requests
    if (stuck !== null && !isAll) return false;
    if (settled.transactions.length === 0) return makePayout(this.#parts, settled, standing, null);
    // all transactions were given up, and none of them may be in a block when another one is planned
    if ((await this.#scannedTip(id)) === null) return false;
    const again = await withTransaction(this.#parts.client, (tx) => this.#settle(tx, id));
    return again?.payout.state === 'asked' && makePayout(this.#parts, again, standing, null);
  }

  #settle(tx: pg.ClientBase, id: string): Promise<SettledPayout | null> {
    return settlePayout(tx, id, this.#parts.withdrawals);
  }

  async #send(
    settled: SettledPayout,
    newest: PayoutTransaction,
    standing: NodeStanding,
    isAll: boolean,
  ): Promise<void> {
    const { client, node, bumpAfterMs } = this.#parts;
    const { id } = settled.payout;
    const waiting = await mempoolStanding(node, newest.txid);
    if (waiting === null) {
      if (!(await this.#sendAgain(settled, newest))) return;
    } else if (newest.refusal !== null || newest.sentAt === null) await this.#mark(settled, newest, null);
    await noteMissing(client, id, null);
    const rate = waiting?.effectiveRate ?? (newest.fee * 1000n) / BigInt(newest.virtualBytes);
    const isOverdue = newest.madeAt.getTime() <= Date.now() - bumpAfterMs;
    if (isAll && isOverdue && rate < urgentFeeRate(standing) && mayPayMore(settled))
      await this.#replace(settled, newest, standing);
  }

  /** Sends the transaction if it is not in the mempool. Returns false if inputs of the transaction are gone. */
  async #sendAgain(settled: SettledPayout, newest: PayoutTransaction): Promise<boolean> {
    // the inputs are checked first, because they may be gone
    if (newest.sentAt !== null && !(await this.#isThere(settled, newest))) return false;
    const refusal = await this.#broadcast(settled, newest);
    return refusal?.kind !== 'missing' || (await this.#isThere(settled, newest));
  }

  /** Sends a transaction, and stores the outcome. Returns null if the node did not refuse it. */
  async #broadcast(settled: SettledPayout, made: PayoutTransaction): Promise<Refusal | null> {
    const { client, node } = this.#parts;
    const { refusal } = await broadcast(node, await readSigned(client, made.txid));
    failpoint('payout-sent');
    await this.#mark(settled, made, refusal?.reason ?? null);
    return refusal;
  }

  /** Raises the fee of a transaction that has waited for a long time. */
  async #replace(settled: SettledPayout, newest: PayoutTransaction, standing: NodeStanding): Promise<void> {
    if (!(await makePayout(this.#parts, settled, standing, newest))) return;
    const again = await withTransaction(this.#parts.client, (tx) => this.#settle(tx, settled.payout.id));
    const next = again === null ? undefined : newestOf(again);
    if (again !== null && next?.sentAt === null) await this.#broadcast(again, next);
  }

  async #mark(
    { payout: { id } }: SettledPayout,
    { txid }: PayoutTransaction,
    refusal: string | null,
  ): Promise<void> {
    const { client, log } = this.#parts;
    await withTransaction(client, async (tx) => {
      await markSent(tx, txid, refusal);
      if (refusal === null && (await lockPayout(tx, id))?.state === 'signed') await putState(tx, id, 'sent');
      if (refusal !== null)
        await noteStuck(tx, id, `The node refused the transaction of the payout: ${refusal}.`);
      else await noteStuck(tx, id, null);
    });
    failpoint('payout-marked');
    if (refusal !== null && this.#repeats.isDue(`${displayHash(txid)} ${refusal}`))
      log.warn(
        { payout: id, txid: displayHash(txid), refusal },
        'the node refused a payout; the payout is sent again',
      );
  }

  /**
   * Whether all inputs of the payout's transaction are unspent in blocks. If an input is missing for more blocks than
   * any reorganisation has, the transaction is given up and another one is planned. This may not happen earlier, and
   * not before payments have processed all blocks of the node. One of these blocks may have this transaction, and
   * another one would pay a second time.
   */
  async #isThere({ payout }: SettledPayout, { plan }: PayoutTransaction): Promise<boolean> {
    const { client, node, confirmations, log } = this.#parts;
    let isThere = true;
    for (const { outpoint } of plan.inputs) {
      isThere &&= await isUnspent(node, outpointParts(outpoint), { mempool: false });
    }
    if (isThere) return true;
    const tip = await this.#scannedTip(payout.id);
    if (tip === null) return false;
    const since = payout.missingSince ?? tip;
    await noteMissing(client, payout.id, since);
    await noteStuck(
      client,
      payout.id,
      `An output that the transaction of the payout spends is missing. The payout is planned again ${confirmations} blocks after ${since}.`,
    );
    if (tip - since < confirmations) return false;
    await withTransaction(client, async (tx) => {
      const again = await this.#settle(tx, payout.id);
      if (again === null || again.payout.state === 'mined') return;
      await supersedeOfOrders(
        tx,
        again.transactions.filter(({ isSuperseded }) => !isSuperseded).map(({ txid }) => txid),
      );
      await putState(tx, payout.id, 'asked');
      await noteStuck(tx, payout.id, null);
      await this.#settle(tx, payout.id);
    });
    log.warn({ payout: payout.id }, 'inputs of a payout are missing, so the payout is planned again');
    return false;
  }

  /**
   * Height of the node's last block if payments have processed all blocks up to this block for the payout, otherwise
   * null. A block that is not processed yet may have a transaction of the payout.
   */
  async #scannedTip(id: string): Promise<Height | null> {
    const { client, node } = this.#parts;
    const best = await node.call<string>('getbestblockhash', []);
    const offset = await readPaymentsOffset(client);
    // a round follows when payments have processed the block
    if (offset === null || displayHash(offset.hash) !== best) return null;
    if ((await countUnscanned(client, watchersOf(id))) === 0) return offset.height;
    await noteStuck(
      client,
      id,
      'Old blocks are still being scanned for payments, and one of them may have the transaction of the payout. The payout waits until they are scanned.',
    );
    return null;
  }
}

/** Watchers of the outputs that show in which block a payout is: its change, or a receiver if there is no change. */
const watchersOf = (id: string): string[] => [`payout ${id}`, `${refundWatchers}payout ${id}`];

/**
 * Whether a payout can change only with a new block or in the full round of each minute, because the node already has
 * its transaction. Hundreds of payouts may be in this state between two blocks, and settling each of them takes about
 * 30 ms.
 */
const waitsForBlock = ({ state, stuck }: Payout): boolean =>
  (state === 'sent' || state === 'mined') && stuck === null;

/**
 * Whether the fee of a payout may be raised. If an account requested a fee rate, the rate is kept, because the service
 * would have to pay the difference.
 */
const mayPayMore = ({ payout: { kind, feeRate } }: SettledPayout): boolean =>
  kind !== 'withdrawal' || feeRate === null;

/** The newest transaction that can still be mined, or undefined if there is no such transaction. */
const newestOf = ({ transactions }: SettledPayout): PayoutTransaction | undefined =>
  transactions.find(({ isSuperseded }) => !isSuperseded);
