import type pg from 'pg';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Logger } from '#kernel/logger.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { Repeats } from '#kernel/repeats.ts';
import { outpointOf } from '#orders/ledger/settlements.ts';
import type { OrderSigner } from '#orders/making/sign-and-store.ts';
import { lockOrder } from '#orders/order.store.ts';
import { readSigned } from '#orders/order-transactions.store.ts';
import { broadcast, broadcastPackage } from '#orders/sending/broadcast.ts';
import { hasUnspentOutput, mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { type NodeStanding, urgentFeeRate } from '#orders/sending/node-standing.ts';
import { nextBlock, ownWatcherOf } from '#orders/watchers.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import {
  insertBump,
  type LiveBump,
  liveBumps,
  markBumpSent,
  noteStuck,
  outpointParts,
  overdueTransactions,
  type RevenueCoin,
  readSignedBump,
  revenueCoins,
  type StoredBumpPlan,
  spentOnBumps,
} from './bump.store.ts';
import { type FoundParent, findStuck } from './find-stuck.ts';
import {
  type BumpLimit,
  type OwnedOutput,
  type PlannedBump,
  planBump,
  type WantedBump,
} from './plan-bump.ts';
import { groupStuck, isStuck } from './stuck.ts';

/** What is done about transactions that are not mined. */
export interface BumpPolicy {
  /** Sats that the fees of an order may rise by; 0: nothing is paid for. */
  readonly maxSats: bigint;
  /** How long a transaction waits before anything is done. */
  readonly afterMs: number;
}

export interface BumperParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly signer: OrderSigner;
  readonly policy: BumpPolicy;
  /** Those of some coins that are proven to hold nothing but sats: no inscriptions, no runes. */
  readonly freeCoins: (coins: readonly RevenueCoin[]) => Promise<readonly RevenueCoin[]>;
  readonly log: Logger;
}

/** Pays for stuck transactions of orders (docs/orders.md, "Stuck transactions"). */
export class Bumper {
  readonly #parts: BumperParts;
  readonly #repeats = new Repeats();

  constructor(parts: BumperParts) {
    this.#parts = parts;
  }

  /** Looks for what is stuck, stores what pays for it, and sends what is stored. Throws the codes of NodeRpc. */
  async look(standing: NodeStanding, now: Date): Promise<void> {
    const { client, node, policy, log } = this.#parts;
    // what was stored before is no longer stuck then
    await this.#send();
    const overdue = await overdueTransactions(client, new Date(now.getTime() - policy.afterMs));
    const { parents, helpless } = await findStuck(node, overdue, urgentFeeRate(standing));
    const round = new BumpRound(this.#parts, standing, now, parents);
    if (policy.maxSats > 0n) await round.make();
    else round.refuse(parents.filter(round.isStuck), 'budget');
    round.noteWaiting();
    for (const id of helpless)
      round.stuck.set(id, 'Its first transaction is not in the mempool, and none of its outputs is ours.');
    await noteStuck(client, round.stuck);
    const { size } = round.stuck;
    if (size > 0 && this.#repeats.isDue(String(size)))
      log.warn({ orders: size }, 'transactions of orders are stuck: satscribe orders list shows why');
    await this.#send();
  }

  /** Sends the bumps that no block has; with what they pay for, where the mempool does not have that. */
  async #send(): Promise<void> {
    const { client, node, log } = this.#parts;
    for (const { txid, parents, refusal } of await liveBumps(client)) {
      if ((await mempoolStanding(node, txid)) !== null) {
        if (refusal !== null) await markBumpSent(client, txid, null);
        continue;
      }
      const child = await readSignedBump(client, txid);
      const absent = await this.#absent(parents);
      const sent =
        absent.length === 0
          ? await broadcast(node, child)
          : await broadcastPackage(node, absent, child, txid);
      await markBumpSent(client, txid, sent.refusal?.reason ?? null);
      const { refusal: why } = sent;
      if (why !== null && this.#repeats.isDue(`${displayHash(txid)} ${why.reason}`))
        log.warn(
          { txid: displayHash(txid), refusal: why.reason },
          'the node refused what pays for a stuck transaction',
        );
    }
  }

  /** Those that neither the mempool nor a block has. */
  async #absent(parents: readonly Txid[]): Promise<Buffer[]> {
    const { client, node } = this.#parts;
    const absent: Buffer[] = [];
    for (const parent of parents) {
      if ((await mempoolStanding(node, parent)) !== null) continue;
      if (!(await hasUnspentOutput(node, parent, new Set([0]))))
        absent.push(await readSigned(client, parent));
    }
    return absent;
  }
}

/** One look at all that is stuck. */
class BumpRound {
  readonly #parts: BumperParts;
  readonly #standing: NodeStanding;
  readonly #now: Date;
  readonly #parents: readonly FoundParent[];
  /** Why orders are not paid for, by their ids. */
  readonly stuck = new Map<string, string>();
  /** Null: not asked for yet. */
  #coins: OwnedOutput[] | null = null;

  constructor(parts: BumperParts, standing: NodeStanding, now: Date, parents: readonly FoundParent[]) {
    this.#parts = parts;
    this.#standing = standing;
    this.#now = now;
    this.#parents = parents;
  }

  readonly isStuck = (parent: FoundParent): boolean => isStuck(parent, this.#standing.mempoolMinFeeRate);

  /** Those that were dropped and are not paid for, as their customers chose to wait. */
  noteWaiting(): void {
    for (const parent of this.#parents) {
      if (parent.mempool !== null || this.isStuck(parent)) continue;
      const least = shownRate(this.#standing.mempoolMinFeeRate);
      this.stuck.set(
        parent.orderId,
        `It is not in the mempool, which takes ${least} or more, and its customer chose to wait.`,
      );
    }
  }

  async make(): Promise<void> {
    const { client, policy } = this.#parts;
    if (!this.#parents.some(this.isStuck)) return;
    const live = await liveBumps(client);
    const paidFor = new Set(
      live.flatMap(({ parents }) => parents.map((txid) => displayHash(txid) as string)),
    );
    const spent = await spentOnBumps(client, [...new Set(this.#parents.map(({ orderId }) => orderId))]);
    for (const bump of live) {
      // a replacement takes the place of what its family has spent
      const others = spent.filter(({ family }) => Buffer.compare(family, bump.family) !== 0);
      await this.#replace(bump, budgetsOf(this.#parents, others, policy.maxSats));
    }
    const budgets = budgetsOf(this.#parents, spent, policy.maxSats);
    const stuck = this.#parents.filter((parent) => this.isStuck(parent) && !paidFor.has(parent.id));
    for (const members of groupStuck(stuck, this.#standing.cluster, budgets)) {
      const parents = members.flatMap((member) => this.#parents.filter(({ id }) => id === member.id));
      await this.#bump(parents, { budgets, replaced: null });
    }
  }

  /** A child that is stuck itself is replaced by one that pays more and spends the same. */
  async #replace(bump: LiveBump, budgets: ReadonlyMap<string, bigint>): Promise<void> {
    const { node, policy } = this.#parts;
    const ids = new Set<string>(bump.parents.map((txid) => displayHash(txid)));
    const parents = this.#parents.filter(({ id }) => ids.has(id));
    const isRecent = bump.madeAt.getTime() > this.#now.getTime() - policy.afterMs;
    if (isRecent || !parents.some(this.isStuck)) return;
    const isThere = (await mempoolStanding(node, bump.txid)) !== null;
    await this.#bump(parents, { budgets, replaced: { bump, isThere } });
  }

  async #bump(
    parents: readonly FoundParent[],
    {
      budgets,
      replaced,
    }: {
      budgets: ReadonlyMap<string, bigint>;
      replaced: { bump: LiveBump; isThere: boolean } | null;
    },
  ): Promise<void> {
    const [first] = parents;
    if (first === undefined) return;
    const ownIndex = replaced?.bump.ownIndex ?? first.overdue.ownIndex;
    const wanted = wantedOf(parents, budgets, replaced);
    const planned = await this.#plan(wanted, ownIndex);
    if (planned.limit !== null) this.refuse(parents, planned.limit);
    if (planned.kind === 'none') return;
    await this.#store(parents, planned, { ownIndex, owed: owedOf(wanted), replaced: replaced?.bump ?? null });
    this.#coins = this.#coins?.filter((coin) => !planned.coins.includes(coin)) ?? null;
  }

  /** With coins only where it needs them: to find free ones takes a look at the index. */
  async #plan(wanted: WantedBump, index: number): Promise<ReturnType<typeof planBump>> {
    const own = { key: { branch: 1, index } as const, leafScript: null };
    const rest = { script: this.#parts.signer.scriptOf(own), own };
    const alone = planBump(wanted, [], rest, this.#standing);
    return alone.limit === 'coins' ? planBump(wanted, await this.#freeCoins(), rest, this.#standing) : alone;
  }

  refuse(parents: readonly FoundParent[], limit: BumpLimit): void {
    const { maxSats } = this.#parts.policy;
    for (const { orderId, mempool, wantedRate } of parents) {
      const paid =
        mempool === null ? 'It is not in the mempool' : `It pays ${shownRate(mempool.effectiveRate)}`;
      const why =
        limit === 'budget'
          ? `an order is paid ${maxSats} sats for (ORDER_BUMP_MAX_SATS)`
          : 'the wallet has no free coin that pays for it';
      this.stuck.set(orderId, `${paid}, ${shownRate(wantedRate)} are asked for, and ${why}.`);
    }
  }

  async #freeCoins(): Promise<OwnedOutput[]> {
    const { client, freeCoins } = this.#parts;
    this.#coins ??= (await freeCoins(await revenueCoins(client))).map(
      ({ txid, vout, value, script, keyIndex }) => ({
        txid,
        vout,
        value: BigInt(value),
        script,
        key: { branch: 1, index: keyIndex },
      }),
    );
    return this.#coins;
  }

  /** In one transaction, before anything is sent. Orders that are no longer under way are left alone. */
  async #store(
    parents: readonly FoundParent[],
    { plan, fee, shares }: PlannedBump,
    made: { ownIndex: number; owed: bigint; replaced: LiveBump | null },
  ): Promise<void> {
    const { client, signer, log } = this.#parts;
    const signed = signer.signPlan(plan);
    const [rest] = plan.outputs;
    const [owner] = parents;
    if (rest === undefined || owner === undefined) return;
    const isStored = await withTransaction(client, async (tx) => {
      for (const id of [...shares.keys()].toSorted()) {
        if ((await lockOrder(tx, id))?.state !== 'queued') return false;
      }
      await watchScripts(tx, ownWatcherOf(owner.orderId), [{ script: rest.script, sinceHeight: nextBlock }]);
      return insertBump(tx, {
        txid: signed.txid,
        family: made.replaced?.family ?? signed.txid,
        bytes: signed.bytes,
        plan: storedPlan(plan, made.owed),
        fee,
        virtualBytes: virtualSize(plannedWeight(plan)),
        ownIndex: made.ownIndex,
        // those that a block has by now are coins
        parents: parents.map(({ overdue }) => overdue.txid),
        shares,
      });
    });
    if (!isStored) return;
    log.info(
      { txid: displayHash(signed.txid), transactions: parents.length, fee: Number(fee) },
      made.replaced === null
        ? 'stuck transactions are paid for'
        : 'what pays for stuck transactions is replaced',
    );
  }
}

const owedOf = ({ parents }: WantedBump): bigint => parents.reduce((sum, { owed }) => sum + owed, 0n);

function budgetsOf(
  parents: readonly FoundParent[],
  spent: readonly { readonly orderId: string; readonly fee: bigint }[],
  maxSats: bigint,
): ReadonlyMap<string, bigint> {
  const budgets = new Map(parents.map(({ orderId }) => [orderId, maxSats]));
  for (const { orderId, fee } of spent) {
    const left = (budgets.get(orderId) ?? 0n) - fee;
    if (budgets.has(orderId)) budgets.set(orderId, left > 0n ? left : 0n);
  }
  return budgets;
}

function wantedOf(
  parents: readonly FoundParent[],
  budgets: ReadonlyMap<string, bigint>,
  replaced: { bump: LiveBump; isThere: boolean } | null,
): WantedBump {
  const outputs = new Set(parents.map(({ output }) => outpointOf(output)));
  const kept = replaced?.bump.plan.inputs.filter(({ outpoint }) => !outputs.has(outpoint)) ?? [];
  const rates = parents.map(({ mempool }) => mempool?.effectiveRate ?? 0n);
  const ids = new Set(parents.map(({ orderId }) => orderId));
  return {
    parents,
    ancestor: parents[0]?.commit ?? { fee: 0n, virtualBytes: 0 },
    kept: kept.map(({ outpoint, value, script, keyIndex }) => ({
      ...outpointParts(outpoint),
      value: BigInt(value),
      script: Buffer.from(script, 'hex'),
      key: keyIndex === null ? null : { branch: 1, index: keyIndex },
    })),
    replaced:
      replaced?.isThere === true
        ? { fee: BigInt(replaced.bump.fee), virtualBytes: replaced.bump.virtualBytes }
        : null,
    feeRate: parents.reduce((most, { wantedRate }) => (wantedRate > most ? wantedRate : most), 0n),
    paidRate: rates.reduce((lowest, rate) => (rate < lowest ? rate : lowest)),
    budgets: new Map([...budgets].filter(([id]) => ids.has(id))),
  };
}

function storedPlan({ inputs, outputs }: PlannedBump['plan'], owed: bigint): StoredBumpPlan {
  return {
    inputs: inputs.map((input) => ({
      outpoint: outpointOf(input),
      value: Number(input.value),
      script: Buffer.from(input.script).toString('hex'),
      keyIndex: input.script.length === anchorBytes ? null : input.key.index,
    })),
    outputs: outputs.map(({ kind, value, script }) => ({
      kind,
      value: Number(value),
      script: Buffer.from(script).toString('hex'),
    })),
    ...(owed === 0n ? {} : { owed: Number(owed) }),
  };
}

/** The script of an anchor (P2A). */
const anchorBytes = 4;

const shownRate = (rate: bigint): string => `${(Number(rate) / 1000).toFixed(1)} sat/vB`;
