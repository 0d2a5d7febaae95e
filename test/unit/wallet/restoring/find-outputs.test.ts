import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unknownHoldings } from '#kernel/contracts/holdings.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { usualGap } from '#src/commands/wallet/known-indices.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { plainInputs, testWallet } from '#test/support/wallet/plans.ts';
import { type IndexedBranch, indexedBranches, inventoryAddresses, walletBranches } from '#wallet/branches.ts';
import {
  type BranchEnds,
  endsAt,
  endsBy,
  highestOf,
  movedBy,
  refilled,
  releasedAtOnce,
  startAfter,
} from '#wallet/indices/branch-ends.ts';
import { leasedAtOnce } from '#wallet/indices/index-leases.ts';
import { skippedUsually } from '#wallet/indices/skip-indices.ts';
import { ownScriptOf, recoveryKit } from '#wallet/recovery-kit.ts';
import { type FoundOutput, findOutputs } from '#wallet/restoring/find-outputs.ts';
import { sweep } from '#wallet/restoring/sweep.ts';
import { takeBackPlan } from '#wallet/take-back.ts';

const { wallet, signer } = testWallet('regtest');
const destination = Uint8Array.of(0, 20, ...new Uint8Array(20));
/** The gap with which `wallet restore` searches beyond a mark. */
const gapWithMark = 1000;

type Step =
  | { readonly kind: 'use'; readonly branch: IndexedBranch; readonly process: number; readonly paid: boolean }
  | { readonly kind: 'start' | 'refill' | 'dump' | 'restore' | 'lose' | 'skip' }
  | { readonly kind: 'end'; readonly process: number };
const process = fc.nat({ max: 2 });
const use = fc.record({
  kind: fc.constant('use' as const),
  branch: fc.constantFrom(...indexedBranches),
  process,
  paid: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: use },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), process }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('start', 'refill') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('dump', 'restore', 'lose', 'skip') }) },
);

/**
 * A wallet with its database, its mark, and processes that lease indices. `coins` are keys that were shown and paid.
 */
class History {
  readonly coins: WalletKey[] = [];
  mark = endsAt(0);
  #stored = { next: endsAt(0), released: endsAt(0) };
  #dumped = this.#stored;
  #isReleasing = false;
  readonly #leases = new Map<string, { next: number; end: number }>();

  happens(what: Step): void {
    switch (what.kind) {
      case 'use':
        this.#use(what);
        break;
      case 'end':
        for (const branch of indexedBranches) this.#leases.delete(`${what.process} ${branch}`);
        break;
      case 'start': {
        const next = startAfter(this.mark, this.#stored);
        this.#release(next, movedBy(next, releasedAtOnce));
        break;
      }
      case 'refill':
        if (this.#isReleasing)
          this.#release(this.#stored.next, refilled(this.#stored.next, this.#stored.released));
        break;
      case 'dump':
        this.#dumped = this.#stored;
        break;
      case 'restore':
      case 'lose':
        this.#isReleasing = false;
        this.#stored = what.kind === 'restore' ? this.#dumped : { next: endsAt(0), released: endsAt(0) };
        break;
      case 'skip': {
        const next = movedBy(startAfter(this.mark, this.#stored), skippedUsually);
        this.mark = next;
        this.#stored = { next, released: highestOf(next, this.#stored.released) };
        break;
      }
      default:
        unreachable(what);
    }
  }

  #release(next: BranchEnds, released: BranchEnds): void {
    this.mark = highestOf(this.mark, released);
    this.#stored = { next, released };
    this.#isReleasing = true;
  }

  #use({ branch, process: by, paid }: Extract<Step, { kind: 'use' }>): void {
    const lease = this.#leases.get(`${by} ${branch}`) ?? this.#lease(branch);
    if (lease === null) return;
    this.#leases.set(`${by} ${branch}`, { ...lease, next: lease.next + 1 });
    const { number } = walletBranches.find(({ name }) => name === branch)!;
    if (lease.next < lease.end && paid) this.coins.push({ branch: number, index: lease.next });
  }

  #lease(branch: IndexedBranch): { next: number; end: number } | null {
    const { next, released } = this.#stored;
    const first = next[branch];
    const end = first + leasedAtOnce;
    if (!this.#isReleasing || end > released[branch]) return null;
    this.#stored = { next: endsBy((other) => (other === branch ? end : next[other])), released };
    return { next: first, end };
  }
}

/** A node that scans like Bitcoin Core, for the descriptors of the wallet. */
function nodeWith(coins: readonly WalletKey[]): NodeRpc {
  const descriptors = wallet.descriptors();
  const unspents = coins.map((key, vout) => {
    const { script } = wallet.addressOf({ key, leafScript: null });
    const type = key.branch === 3 ? 'wpkh' : 'tr';
    return {
      key,
      txid: createHash('sha256').update(`${key.branch}/${key.index}`).digest('hex'),
      vout,
      scriptPubKey: Buffer.from(script).toString('hex'),
      desc: `${type}([73c5da0a/86h/1h/0h/${key.branch}/${key.index}]02)`,
      amount: 0.0001,
      height: 1,
    };
  });
  const found = (objects: readonly { desc: string; range: readonly [number, number] }[]) =>
    unspents.filter(({ key }) =>
      objects.some(
        ({ desc, range: [first, last] }) =>
          desc === descriptors[key.branch] && key.index >= first && key.index <= last,
      ),
    );
  return {
    url: 'http://node',
    call: async (method, parameters) => {
      if (method === 'gettxout') return {} as never;
      const [action, objects] = parameters as [string, Parameters<typeof found>[0]];
      return (action === 'start' ? { unspents: found(objects) } : null) as never;
    },
  };
}

const namesOf = (keys: readonly WalletKey[]): string[] =>
  keys.map(({ branch, index }) => `${branch}/${index}`).toSorted();

/**
 * Checks that each coin can be moved by a transaction that the wallet signs, and also with only the recovery kit of its
 * address.
 */
function expectSpendable(found: readonly FoundOutput[]): void {
  const movable = found.filter(({ own }) => own.key.branch !== 2);
  const { plans, left } = sweep(movable, destination, 1000n);
  expect(left).toEqual([]);
  for (const plan of plans) signer.signPlan(plan, plainInputs(plan));
  for (const { own, ...output } of movable.slice(0, 2)) {
    const kit = recoveryKit(wallet, own);
    const order = { own: ownScriptOf(kit), script: Buffer.from(kit.script, 'hex'), destination };
    signer.signPlan(takeBackPlan({ ...order, outputs: [output], feeRate: 1000n }).plan, [unknownHoldings]);
  }
}

test('the seed and its mark find every coin of every branch, across gaps of leases, restores and skips', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80, size: 'max' }),
      fc.array(fc.nat({ max: inventoryAddresses - 1 }), { maxLength: 2 }),
      async (steps, stocked) => {
        const history = new History();
        history.happens({ kind: 'start' });
        for (const happening of steps) history.happens(happening);
        const stock = [...new Set(stocked)].map((index) => ({ branch: 2, index }) as const);
        const coins = [...history.coins, ...stock];
        expect(new Set(namesOf(coins)).size).toBe(coins.length);
        const { found, searched } = await findOutputs({
          node: nodeWith(coins),
          wallet,
          known: history.mark,
          gap: gapWithMark,
          leaves: [],
          signal: new AbortController().signal,
          onProgress: () => undefined,
        });
        expect(namesOf(found.map(({ own }) => own.key))).toEqual(namesOf(coins));
        expect(searched).toEqual(endsBy((branch) => history.mark[branch] + gapWithMark));
        expectSpendable(found);
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});

test('without the mark, coins are found within the distance of one skip', async () => {
  const coins = indexedBranches.flatMap((name) => {
    const { number } = walletBranches.find((branch) => branch.name === name)!;
    // each start gives up the release before it, and so does a skip
    const idle = 100 * releasedAtOnce;
    return [4, 4 + idle + skippedUsually].map((index): WalletKey => ({ branch: number, index }));
  });
  const search = { wallet, leaves: [], signal: new AbortController().signal, onProgress: () => undefined };
  const gap = usualGap(false);
  const { found } = await findOutputs({ ...search, node: nodeWith(coins), known: endsAt(0), gap });
  expect(namesOf(found.map(({ own }) => own.key))).toEqual(namesOf(coins));
});
