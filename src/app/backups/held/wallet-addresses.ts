import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { walletBranches } from '#wallet/branches.ts';
import { type BranchEnds, indexEnd } from '#wallet/indices/branch-ends.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

/** Number of addresses of each branch that the node derives at once. */
const derivedAtOnce = 10_000;
/** How long the node may take for these addresses, in ms. It takes a second on an idle machine. */
const derivedMs = 120_000;
/** Number of indices below the ends that are derived, too. A release has 1000 indices, which may be unused in the backup. */
const belowEnds = 2_000;
/** More addresses are derived if an address is found within this number of indices of the last one. */
const extendedWithin = 5_000;

type Indexed = Exclude<(typeof walletBranches)[number], { readonly name: 'inventory' }>;

const branches: readonly Indexed[] = walletBranches.filter(
  (branch): branch is Indexed => branch.name !== 'inventory',
);

/**
 * Addresses without a leaf that the wallet may have shown after a backup. The node derives 10,000 of each branch, and
 * more if one of the last ones is used.
 */
export class WalletAddresses {
  readonly #node: NodeRpc;
  readonly #wallet: PublicWallet;
  readonly #keys = new Map<string, WalletKey>();
  readonly #ends = new Map<WalletKey['branch'], number>();

  private constructor(node: NodeRpc, wallet: PublicWallet) {
    this.#node = node;
    this.#wallet = wallet;
  }

  /** @param ends ends of the indices that the backup may have shown */
  static async after(node: NodeRpc, wallet: PublicWallet, ends: BranchEnds): Promise<WalletAddresses> {
    const made = new WalletAddresses(node, wallet);
    for (const { number, name } of branches) {
      made.#ends.set(number, Math.max(0, ends[name] - belowEnds));
      await made.#extend(number);
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
    while ((this.#ends.get(key.branch) ?? indexEnd) - key.index <= extendedWithin)
      await this.#extend(key.branch);
    return key;
  }

  async #extend(branch: WalletKey['branch']): Promise<void> {
    const from = this.#ends.get(branch) ?? 0;
    const until = Math.min(from + derivedAtOnce, indexEnd);
    const descriptor = this.#wallet.descriptors()[branch];
    const derived = await this.#node.call<readonly string[]>(
      'deriveaddresses',
      [descriptor, [from, until - 1]],
      { timeoutMs: derivedMs },
    );
    for (const [place, address] of derived.entries())
      this.#keys.set(address, { branch, index: from + place });
    this.#ends.set(branch, until);
  }
}
