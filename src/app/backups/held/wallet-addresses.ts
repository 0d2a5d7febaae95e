import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { walletBranches } from '#wallet/branches.ts';
import { type BranchEnds, indexEnd } from '#wallet/indices/branch-ends.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

/** Number of addresses of each branch that the node derives at once. */
const derivedAtOnce = 10_000;
/** How long the node may take for these addresses, in ms. It takes a second on an idle machine. */
const derivedMs = 120_000;
/**
 * Number of indices below the ends that are derived, too. A release has 1000 indices, which may be unused in the
 * backup.
 */
const belowEnds = 2_000;
/** More addresses are derived if an address is found within this number of indices of the last one. */
const extendedWithin = 5_000;

type Indexed = Exclude<(typeof walletBranches)[number], { readonly name: 'inventory' }>;

const branches: readonly Indexed[] = walletBranches.filter(
  (branch): branch is Indexed => branch.name !== 'inventory',
);

/** Indices of one branch whose addresses are known: from `from` up to, but not including, `end`. */
interface DerivedRange {
  readonly branch: WalletKey['branch'];
  readonly from: number;
  end: number;
}

/**
 * Addresses without a leaf that the wallet may have shown after backups. The node derives 10,000 of each branch for
 * each backup, and more if one of the last ones is used.
 */
export class WalletAddresses {
  readonly #node: NodeRpc;
  readonly #wallet: PublicWallet;
  readonly #keys = new Map<string, WalletKey>();
  readonly #ranges: DerivedRange[] = [];

  private constructor(node: NodeRpc, wallet: PublicWallet) {
    this.#node = node;
    this.#wallet = wallet;
  }

  /** @param ends ends of the indices that each restored backup may have shown */
  static async after(
    node: NodeRpc,
    wallet: PublicWallet,
    ends: readonly BranchEnds[],
  ): Promise<WalletAddresses> {
    const made = new WalletAddresses(node, wallet);
    for (const of of ends)
      for (const { number: branch, name } of branches) {
        const from = Math.max(0, of[name] - belowEnds);
        const range = { branch, from, end: from };
        made.#ranges.push(range);
        await made.#extend(range);
      }
    return made;
  }

  /** Adds addresses of keys in branch 1 that payouts have had since before the backup. */
  addOwn(indices: readonly number[]): void {
    for (const index of indices) this.#keys.set(this.#wallet.ownAddress(index).address, { branch: 1, index });
  }

  /** The key of an address, or null if the wallet does not have the address. */
  async keyOf(address: string | null): Promise<WalletKey | null> {
    const key = address === null ? undefined : this.#keys.get(address);
    if (key === undefined) return null;
    for (const range of this.#ranges) {
      if (range.branch !== key.branch || key.index < range.from) continue;
      while (key.index < range.end && range.end < indexEnd && range.end - key.index <= extendedWithin)
        await this.#extend(range);
    }
    return key;
  }

  async #extend(range: DerivedRange): Promise<void> {
    const { branch, end: from } = range;
    const end = Math.min(from + derivedAtOnce, indexEnd);
    if (from >= end) return;
    const descriptor = this.#wallet.descriptors()[branch];
    const derived = await this.#node.call<readonly string[]>(
      'deriveaddresses',
      [descriptor, [from, end - 1]],
      { timeoutMs: derivedMs },
    );
    for (const [place, address] of derived.entries())
      this.#keys.set(address, { branch, index: from + place });
    range.end = end;
  }
}
