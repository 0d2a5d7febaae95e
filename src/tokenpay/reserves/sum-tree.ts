import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';

/** A leaf or a node of a sum tree. Its hash commits to all leaves below it, and to the sum of these leaves. */
export interface SumNode {
  /** Hash as 64 hex digits. */
  readonly hash: string;
  /** Sum in base units, at least 0. */
  readonly sum: bigint;
}

/** The liability to an account in one asset. */
export interface Liability {
  /**
   * Secret of 64 hex digits that only the account learns. Without the salt, no one can check guesses of accounts and
   * balances.
   */
  readonly salt: string;
  readonly account: string;
  /** `BTC`, or the txid of the rune's etching. */
  readonly asset: string;
  /** Amount in base units, at least 0. */
  readonly amount: bigint;
}

/** The sibling of a node on the path from a leaf to the root. */
export interface PathStep extends SumNode {
  readonly side: 'left' | 'right';
}

/** The leaf of a liability. The hash covers lines in UTF-8. Each line except the last one ends with a line feed. */
export function liabilityLeaf({ salt, account, asset, amount }: Liability): SumNode {
  assert(amount >= 0n, 'a debt of an account is not a liability');
  return { hash: hashOf('leaf', [salt, asset, String(amount), account]), sum: amount };
}

/**
 * A tree of the liabilities of one asset (Merkle sum tree). Leaves are sorted by hash, so the index of a leaf reveals
 * nothing about its account. A node without a sibling moves up unchanged. The hash of a node covers the hashes and the
 * sums of both children. So no path can show a smaller sum without a different root.
 */
export class SumTree {
  /** Levels of the tree. The leaves are the first level, and the root is the last. */
  readonly #levels: readonly (readonly SumNode[])[];

  constructor(leaves: readonly SumNode[]) {
    let level: readonly SumNode[] = leaves.toSorted((a, b) =>
      a.hash < b.hash ? -1 : Number(a.hash > b.hash),
    );
    const levels = [level];
    while (level.length > 1) {
      level = nextLevel(level);
      levels.push(level);
    }
    this.#levels = levels;
  }

  /** The root of the tree, or null if the tree has no leaves. */
  get root(): SumNode | null {
    return this.#levels.at(-1)?.[0] ?? null;
  }

  /** The paths of all leaves, by the leaf's hash. */
  paths(): ReadonlyMap<string, readonly PathStep[]> {
    const [leaves = []] = this.#levels;
    return new Map(leaves.map(({ hash }, place) => [hash, this.#path(place)]));
  }

  #path(leaf: number): PathStep[] {
    const steps: PathStep[] = [];
    let place = leaf;
    for (const level of this.#levels) {
      const isRight = place % 2 === 1;
      const sibling = level[isRight ? place - 1 : place + 1];
      if (sibling !== undefined) steps.push({ side: isRight ? 'left' : 'right', ...sibling });
      place = Math.floor(place / 2);
    }
    return steps;
  }
}

/** Computes the root from a leaf and its path. */
export function rootOfPath(leaf: SumNode, path: readonly PathStep[]): SumNode {
  return path.reduce<SumNode>(
    (node, step) => (step.side === 'left' ? joined(step, node) : joined(node, step)),
    leaf,
  );
}

function nextLevel(level: readonly SumNode[]): SumNode[] {
  const next: SumNode[] = [];
  for (let place = 0; place < level.length; place += 2) {
    const [left, right] = level.slice(place, place + 2);
    if (left !== undefined) next.push(right === undefined ? left : joined(left, right));
  }
  return next;
}

const joined = (left: SumNode, right: SumNode): SumNode => ({
  hash: hashOf('node', [`${left.hash} ${left.sum}`, `${right.hash} ${right.sum}`]),
  sum: left.sum + right.sum,
});

/** SHA-256 hash of lines of text. The first line is the kind, so that a node can never be taken for a leaf. */
const hashOf = (kind: 'leaf' | 'node', lines: readonly string[]): string =>
  createHash('sha256')
    .update([`satscribe reserves ${kind}`, ...lines].join('\n'))
    .digest('hex');
