import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { AccountBalance } from '#purse/ledger/token-balances.queries.ts';
import type { AssetParts } from './asset-parts.ts';
import { liabilityLeaf, type PathStep, rootOfPath, type SumNode, SumTree } from './sum-tree.ts';

/** A liability to an account, with the path from its leaf to the root. Amounts are in base units. */
export interface ProvenLiability {
  readonly asset: string;
  readonly token: string;
  readonly amount: string;
  readonly salt: string;
  readonly leaf: string;
  readonly path: readonly { readonly side: PathStep['side']; readonly hash: string; readonly sum: string }[];
}

/** An amount of an asset that an account owes. */
export interface AccountDebt {
  readonly asset: string;
  readonly token: string;
  readonly amount: string;
}

export interface AccountLiabilities {
  readonly account: string;
  readonly liabilities: readonly ProvenLiability[];
  readonly debts: readonly AccountDebt[];
}

const saltBytes = 32;

/**
 * Computes the liabilities of each account, and the root of each asset's tree. An asset that no account holds has no
 * root.
 */
export async function accountLiabilities(
  balances: readonly AccountBalance[],
  assets: readonly AssetParts[],
): Promise<{ accounts: AccountLiabilities[]; roots: ReadonlyMap<string, string> }> {
  const byAsset = Map.groupBy(balances, ({ asset }) => asset);
  const accounts = new Map<string, { liabilities: ProvenLiability[]; debts: AccountDebt[] }>();
  const ofAccount = (account: string) => {
    const known = accounts.get(account) ?? { liabilities: [], debts: [] };
    accounts.set(account, known);
    return known;
  };
  const roots = new Map<string, string>();
  for (const { asset, token, number, liabilities } of assets) {
    await nextTurn();
    const held = number === null ? [] : (byAsset.get(number) ?? []);
    const root = addTree(
      held.filter(({ amount }) => amount > 0n),
      { asset, token },
      (account, proven) => ofAccount(account).liabilities.push(proven),
    );
    assert((root?.sum ?? 0n) === liabilities, 'the leaves of an asset sum to what accounts hold of it');
    if (root !== null) roots.set(asset, root.hash);
    for (const { account, amount } of held)
      if (amount < 0n) ofAccount(account).debts.push({ asset, token, amount: String(-amount) });
  }
  return { accounts: [...accounts].map(([account, of]) => ({ account, ...of })), roots };
}

function addTree(
  held: readonly AccountBalance[],
  { asset, token }: Pick<AssetParts, 'asset' | 'token'>,
  add: (account: string, proven: ProvenLiability) => void,
): SumNode | null {
  const leaves = held.map(({ account, amount }) => {
    const salt = randomBytes(saltBytes).toString('hex');
    return { account, amount, salt, leaf: liabilityLeaf({ salt, account, asset, amount }) };
  });
  const tree = new SumTree(leaves.map(({ leaf }) => leaf));
  const { root } = tree;
  const paths = tree.paths();
  for (const { account, amount, salt, leaf } of leaves) {
    const path = paths.get(leaf.hash) ?? [];
    assert(rootOfPath(leaf, path).hash === root?.hash, 'each path leads to the root');
    add(account, {
      asset,
      token,
      amount: String(amount),
      salt,
      leaf: leaf.hash,
      path: path.map((step) => ({ side: step.side, hash: step.hash, sum: String(step.sum) })),
    });
  }
  return root;
}
