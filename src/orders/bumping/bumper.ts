import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { freeCoins, type IsUnspent, type ProveFree } from '#orders/funds/free-coins.ts';
import { type ReservedSats, readFreeSats } from '#orders/funds/spare-sats.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import { broadcast, broadcastPackage } from '#orders/sending/broadcast.ts';
import { mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { type NodeStanding, urgentFeeRate } from '#orders/sending/node-standing.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import {
  markSent,
  readSigned,
  type SignedTransaction,
} from '#purse/transactions/wallet-transactions.store.ts';
import { type BumpFigures, bumpFigures } from './budgets.ts';
import { type LiveBump, liveBumps, noteStuck, overdueTransactions, spentOnBumps } from './bump.store.ts';
import { readBumpCosts } from './bump-costs.ts';
import { type BumpPolicy, BumpRound, type RoundParts } from './bump-round.ts';
import { type FoundParent, findStuck } from './find-stuck.ts';
import { guarded } from './guarded.ts';
import { keepBump } from './keep-bump.ts';
import { parentsToSend } from './unmined-parents.ts';

export interface BumperParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly signer: OrderSigner;
  readonly policy: BumpPolicy;
  /** Receives the costs of bumps in each round, before new bumps are made. */
  readonly onFigures?: (figures: BumpFigures) => void;
  readonly proveFree: ProveFree;
  readonly reserved: ReservedSats;
  readonly log: Logger;
}

/** Pays for stuck transactions of orders (docs/orders-operator.md, "Stuck transactions"). */
export class Bumper {
  readonly #parts: BumperParts;
  readonly #repeats = new Repeats();
  readonly #heldBackRepeats = new Repeats();

  constructor(parts: BumperParts) {
    this.#parts = parts;
  }

  /**
   * Finds stuck transactions, stores bumps for them, and sends stored bumps. Throws if the database or the node does
   * not answer. Logs any other error, so that orders continue.
   */
  async look(standing: NodeStanding, now: Date): Promise<void> {
    const error = await guarded(() => this.#look(standing, now));
    if (error !== null && this.#repeats.isDue(error.message))
      this.#parts.log.error({ err: error }, 'stuck transactions of orders could not be examined');
  }

  async #look(standing: NodeStanding, now: Date): Promise<void> {
    const { client, node, policy, log } = this.#parts;
    // stored bumps are sent first, because the transactions that they pay for may then no longer be stuck
    await this.#send();
    const overdue = await overdueTransactions(client, new Date(now.getTime() - policy.afterMs));
    const { parents, helpless } = await findStuck(node, overdue, urgentFeeRate(standing));
    const round = await this.#round(standing, now, parents);
    await round.make();
    for (const id of helpless)
      round.stuck.set(
        id,
        'The first transaction of the order is not in the mempool and has no output of ours, so no other transaction can pay for it.',
      );
    await noteStuck(client, round.stuck);
    const { size } = round.stuck;
    if (size > 0 && this.#repeats.isDue(String(size)))
      log.warn({ orders: size }, 'transactions of orders are stuck; satscribe orders list shows why');
    await this.#tellHeldBack(round);
    await this.#send();
  }

  async #tellHeldBack(round: BumpRound): Promise<void> {
    const { size } = round.heldBack;
    if (size === 0 || !this.#heldBackRepeats.isDue(String(size))) return;
    const { free, reserved } = await round.freeSats();
    this.#parts.log.warn(
      { orders: size, free: Number(free), reserved: Number(reserved) },
      'no stuck transactions are bumped now, because the free coins are reserved for what partners are owed',
    );
  }

  async #round(standing: NodeStanding, now: Date, parents: readonly FoundParent[]): Promise<BumpRound> {
    const { client, node, signer, policy, proveFree, reserved, log } = this.#parts;
    const isThere: IsUnspent = (coin) => isUnspent(node, coin, { mempool: true });
    return new BumpRound({
      policy,
      standing,
      now,
      parents,
      live: await liveBumps(client),
      costs: await this.#costs(parents, now),
      scriptOf: signer.scriptOf,
      isInMempool: async (txid) => (await mempoolStanding(node, txid)) !== null,
      freeCoins: () => freeCoins(client, proveFree, isThere),
      freeSats: () => readFreeSats(client, reserved),
      isUnspent: isThere,
      store: (wanted) => keepBump({ client, signer, log }, wanted),
      log,
    });
  }

  async #costs(parents: readonly FoundParent[], now: Date): Promise<RoundParts['costs']> {
    const { client, policy, onFigures } = this.#parts;
    const { families, revenue } = await readBumpCosts(client, now);
    onFigures?.(bumpFigures(policy, { families, revenue }));
    const spent = await spentOnBumps(client, [...new Set(parents.map(({ orderId }) => orderId))]);
    return { spent, families, revenue };
  }

  /**
   * Sends the bumps that are not mined. If the mempool lacks transactions that a bump pays for, these transactions are
   * sent together with the bump.
   */
  async #send(): Promise<void> {
    const { client, log } = this.#parts;
    for (const bump of await liveBumps(client)) {
      const error = await guarded(() => this.#sendOne(bump));
      if (error !== null && this.#repeats.isDue(`${displayHash(bump.txid)} ${error.message}`))
        log.error(
          { err: error, txid: displayHash(bump.txid) },
          'a transaction that pays for a stuck one could not be sent',
        );
    }
  }

  async #sendOne(bump: LiveBump): Promise<void> {
    const { client, node, log } = this.#parts;
    const { txid, refusal } = bump;
    if ((await mempoolStanding(node, txid)) !== null) {
      if (refusal !== null) await markSent(client, txid, null);
      return;
    }
    const child = await readSigned(client, txid);
    const parents: SignedTransaction[] = [];
    for (const parent of await parentsToSend(node, bump)) parents.push(await readSigned(client, parent));
    const sent =
      parents.length === 0
        ? await broadcast(node, child)
        : (await broadcastPackage(node, [...parents, child])).at(-1);
    const why = sent?.refusal ?? null;
    await markSent(client, txid, why?.reason ?? null);
    if (why !== null && this.#repeats.isDue(`${displayHash(txid)} ${why.reason}`))
      log.warn(
        { txid: displayHash(txid), refusal: why.reason },
        'the node refused a transaction that pays for a stuck one',
      );
  }
}
