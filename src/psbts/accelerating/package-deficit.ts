import type { TxidHex } from '#kernel/primitives/hash.ts';

/** An unconfirmed transaction. */
export interface MempoolTransaction {
  readonly txid: TxidHex;
  readonly virtualBytes: number;
  /** Sats. */
  readonly fee: bigint;
  /** Unconfirmed transactions whose outputs the transaction spends. */
  readonly parents: readonly TxidHex[];
}

/**
 * Computes the fee that a child of all these transactions must pay, in addition to the fee for its own size. With this
 * fee, miners take each of the transactions at the fee rate. The result is in thousandths of a sat. 0 means that the
 * transactions already pay enough.
 *
 * The surplus of a transaction pays only for its own ancestors, because miners take the transaction together with them.
 * So the child must pay for a poor parent, even if a grandparent has a surplus. As much surplus as possible is moved to
 * ancestors with a deficit (a maximum flow). Pure; nodes limit the number of transactions to 64.
 *
 * @param transactions transactions together with all their unconfirmed ancestors
 * @param feeRate fee rate in sats per 1,000 virtual bytes, which is the same as thousandths of a sat per virtual byte
 */
export function packageDeficit(transactions: readonly MempoolTransaction[], feeRate: bigint): bigint {
  const parents = new Map(transactions.map(({ txid, parents: own }) => [txid, own]));
  const ranked = transactions.map(({ txid, fee, virtualBytes }) => ({
    txid,
    surplus: fee * 1000n - feeRate * BigInt(virtualBytes),
  }));
  const flow = new Flow();
  for (const { txid, surplus } of ranked) if (surplus < 0n) flow.needs(txid, -surplus);
  for (const { txid, surplus } of ranked)
    if (surplus > 0n) flow.give(txid, surplus, ancestorsOf(txid, parents));
  return flow.lacking;
}

/** The unconfirmed ancestors of a transaction, without the transaction itself. */
function ancestorsOf(txid: TxidHex, parents: ReadonlyMap<TxidHex, readonly TxidHex[]>): ReadonlySet<TxidHex> {
  const found = new Set(parents.get(txid));
  // the loop also visits elements that are added to the set during the loop
  for (const each of found) for (const parent of parents.get(each) ?? []) found.add(parent);
  found.delete(txid);
  return found;
}

/** The maximum flow from transactions with a surplus to ancestors with a deficit, computed with augmenting paths. */
class Flow {
  readonly #needed = new Map<TxidHex, bigint>();
  readonly #receivers = new Map<TxidHex, ReadonlySet<TxidHex>>();
  /** Amounts that were moved, by receiver and giver. */
  readonly #given = new Map<TxidHex, Map<TxidHex, bigint>>();

  needs(txid: TxidHex, amount: bigint): void {
    this.#needed.set(txid, amount);
    this.#given.set(txid, new Map());
  }

  get lacking(): bigint {
    return [...this.#needed.values()].reduce((sum, amount) => sum + amount, 0n);
  }

  /**
   * Moves as much of a surplus as the ancestors need. To make room, surpluses of other givers may move to other
   * ancestors.
   */
  give(giver: TxidHex, surplus: bigint, ancestors: ReadonlySet<TxidHex>): void {
    this.#receivers.set(giver, ancestors);
    for (let left = surplus; left > 0n; ) {
      const path = this.#pathFrom(giver);
      if (path === null) return;
      left -= this.#push(path, left);
    }
  }

  /**
   * Finds a path from the first giver to a receiver with a deficit. The steps are in reverse, so the receiver with the
   * deficit comes first. Returns null if no reachable receiver has a deficit.
   */
  #pathFrom(first: TxidHex): readonly Step[] | null {
    const queue: Step[] = [];
    const seen = new Set<TxidHex>();
    const visit = (giver: TxidHex, before: Step | null): void => {
      for (const receiver of this.#receivers.get(giver) ?? []) {
        if (seen.has(receiver) || !this.#needed.has(receiver)) continue;
        seen.add(receiver);
        queue.push({ giver, receiver, before });
      }
    };
    visit(first, null);
    for (const step of queue) {
      if ((this.#needed.get(step.receiver) ?? 0n) > 0n) return pathOf(step);
      for (const [giver, amount] of this.#given.get(step.receiver) ?? []) if (amount > 0n) visit(giver, step);
    }
    return null;
  }

  /** Moves at most `most` along a path. Returns the moved amount. */
  #push(path: readonly Step[], most: bigint): bigint {
    const [end] = path;
    if (end === undefined) return 0n;
    let amount = least(most, this.#needed.get(end.receiver) ?? 0n);
    for (const { giver, before } of path)
      if (before !== null) amount = least(amount, this.#given.get(before.receiver)?.get(giver) ?? 0n);
    for (const { giver, receiver, before } of path) {
      this.#add(receiver, giver, amount);
      if (before !== null) this.#add(before.receiver, giver, -amount);
    }
    this.#needed.set(end.receiver, (this.#needed.get(end.receiver) ?? 0n) - amount);
    return amount;
  }

  #add(receiver: TxidHex, giver: TxidHex, amount: bigint): void {
    const by = this.#given.get(receiver);
    by?.set(giver, (by.get(giver) ?? 0n) + amount);
  }
}

/**
 * One step of a path: a giver pays for a receiver. If there is a step before, the giver takes the amount back from the
 * receiver of that step.
 */
interface Step {
  readonly giver: TxidHex;
  readonly receiver: TxidHex;
  readonly before: Step | null;
}

function pathOf(end: Step): readonly Step[] {
  const path: Step[] = [];
  for (let step: Step | null = end; step !== null; step = step.before) path.push(step);
  return path;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
