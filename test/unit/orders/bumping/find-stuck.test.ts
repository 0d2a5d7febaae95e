import { expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import type { OverdueTransaction } from '#orders/bumping/bump.store.ts';
import { findStuck } from '#orders/bumping/find-stuck.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';

const txidOf = (place: number) => trustedTxid(Buffer.alloc(32, place + 1));
const outpoint = (place: number, vout: number): string => `${displayHash(txidOf(place))}:${vout}`;
const output = (kind: StoredPlan['outputs'][number]['kind']) => ({ kind, value: 1000, script: '51' });

/** A reveal. It spends an output of the commit, and the parents that the reveal before it returned. */
function reveal(place: number, parents: number): OverdueTransaction {
  const inputs = Array.from({ length: parents }, (_, vout) => outpoint(place - 1, vout));
  const all = place === 0 ? [] : [outpoint(0, parents + place), ...(place === 1 ? [] : inputs)];
  return {
    txid: txidOf(place),
    orderId: 'an order',
    kind: place === 0 ? 'commit' : 'reveal',
    plan: {
      inputs: all.map((each) => ({ outpoint: each, value: 1000 })),
      outputs: [...inputs.map(() => output('parent')), output('service')],
    },
    virtualBytes: 200,
    fee: 400,
    ownIndex: 0,
    amount: 1000n,
    feeRate: 2000n,
    paidEstimate: null,
    earned: 2000n,
    isBurned: false,
    revealed: null,
  };
}

test('should pay the rise of fees since its order was paid', async () => {
  const node = {
    call: async (method: string) => {
      if (method === 'gettxout') return null;
      throw new AppError('node_call_failed', 'Transaction not in mempool', { rpcCode: -5 });
    },
  } as unknown as NodeRpc;
  const wantedOf = async (paidEstimate: bigint | null): Promise<bigint | undefined> => {
    const { parents } = await findStuck(node, [{ ...reveal(0, 0), paidEstimate }], 20_000n);
    return parents[0]?.wantedRate;
  };
  expect(await wantedOf(8000n)).toBe(5000n);
  expect(await wantedOf(2000n)).toBe(20_000n);
  expect(await wantedOf(null)).toBe(2000n);
});

test('a chain of reveals that pass on several parents is walked once', async () => {
  // the mempool has all of these transactions
  const entry = {
    vsize: 200,
    fees: { base: 0.000004, ancestor: 0.000004, descendant: 0.000004, modified: 0.000004 },
  };
  const node = {
    call: (method: string) =>
      Promise.resolve(
        method === 'getmempoolentry'
          ? { ...entry, ancestorsize: 200, descendantsize: 200, ancestorcount: 1, descendantcount: 1 }
          : null,
      ),
  } as unknown as NodeRpc;
  const chain = Array.from({ length: 60 }, (_, place) => reveal(place, 3));
  const { parents } = await findStuck(node, chain, 5000n);
  expect(parents.at(-1)?.commit).toMatchObject({ id: displayHash(txidOf(0)), virtualBytes: 59 * 200 });
});
