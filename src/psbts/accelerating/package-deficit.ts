import type { TxidHex } from '#kernel/primitives/hash.ts';

/** An unconfirmed transaction. */
export interface MempoolTransaction {
  readonly txid: TxidHex;
  readonly virtualBytes: number;
  /** Sats. */
  readonly fee: bigint;
  /** Unconfirmed transactions that it spends. */
  readonly parents: readonly TxidHex[];
}

/**
 * The thousandths of a sat that a child of all these transactions must pay beyond its own size, so that miners take
 * each of them at a fee rate. A transaction that pays more than the rate pays only for its own ancestors: miners take
 * it with these first. So the child must pay for a poor parent, even if its grandparent is rich. Surpluses can pay the
 * largest flow from their owners to ancestors with a deficit. 0: everything is paid for. Pure; nodes bound the number
 * of transactions by 64.
 *
 * @param transactions each with all of its unconfirmed ancestors
 * @param feeRate sats for 1,000 virtual bytes, and thus thousandths of a sat for one
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

/** The unconfirmed ancestors of a transaction, without itself. */
function ancestorsOf(txid: TxidHex, parents: ReadonlyMap<TxidHex, readonly TxidHex[]>): ReadonlySet<TxidHex> {
  const found = new Set(parents.get(txid));
  // the loop also reaches elements that are added to the set meanwhile
  for (const each of found) for (const parent of parents.get(each) ?? []) found.add(parent);
  found.delete(txid);
  return found;
}

/** The largest flow from transactions with a surplus to ancestors with a deficit, by augmenting paths. */
class Flow {
  readonly #needed = new Map<TxidHex, bigint>();
  readonly #receivers = new Map<TxidHex, ReadonlySet<TxidHex>>();
  /** Amounts by receiver and giver. */
  readonly #given = new Map<TxidHex, Map<TxidHex, bigint>>();

  needs(txid: TxidHex, amount: bigint): void {
    this.#needed.set(txid, amount);
    this.#given.set(txid, new Map());
  }

  get lacking(): bigint {
    return [...this.#needed.values()].reduce((sum, amount) => sum + amount, 0n);
  }

  /** Gives as much of a surplus as ancestors can take; other givers may give theirs to other ancestors instead. */
  give(giver: TxidHex, surplus: bigint, ancestors: ReadonlySet<TxidHex>): void {
    this.#receivers.set(giver, ancestors);
    for (let left = surplus; left > 0n; ) {
      const path = this.#pathFrom(giver);
      if (path === null) return;
      left -= this.#push(path, left);
    }
  }

  /** Receivers, each with its giver, from one with a deficit back to the first giver. Null: no one has a deficit. */
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

  /** Moves at most `most` along a path; returns the moved amount. */
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

/** A gift of one transaction to another, or one that the giver takes back from the receiver. */
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
