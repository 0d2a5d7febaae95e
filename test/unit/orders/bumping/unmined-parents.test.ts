import { expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { parentsToSend } from '#orders/bumping/unmined-parents.ts';

const [held, mined, gone] = [1, 2, 3].map((byte) => trustedTxid(Buffer.alloc(32, byte))) as [
  ReturnType<typeof trustedTxid>,
  ReturnType<typeof trustedTxid>,
  ReturnType<typeof trustedTxid>,
];
const entry = {
  vsize: 200,
  ancestorcount: 1,
  ancestorsize: 200,
  descendantcount: 1,
  descendantsize: 200,
  fees: { base: 0.000_004, ancestor: 0.000_004, descendant: 0.000_004 },
};

/** A node whose mined transactions have one unspent output: output 2, which is ours. */
const node = {
  call: async (method: string, [txid, vout]: readonly unknown[]) => {
    if (method === 'gettxout') return txid === displayHash(mined) && vout === 2 ? {} : null;
    if (txid === displayHash(held)) return entry;
    throw new AppError('node_call_failed', 'Transaction not in mempool', { rpcCode: -5 });
  },
} as unknown as NodeRpc;

function bumpOf(...parents: readonly (typeof held)[]) {
  const inputs = parents.map((parent) => ({
    outpoint: `${displayHash(parent)}:2`,
    value: 1000,
    script: '',
    keyIndex: 3,
  }));
  return { parents, plan: { inputs, outputs: [] } };
}

test('a bump is sent alone if mempool and blocks have its parents', async () => {
  expect(await parentsToSend(node, bumpOf(held, mined))).toEqual([]);
});

test('a bump is sent with all unmined parents if the mempool dropped one', async () => {
  expect(await parentsToSend(node, bumpOf(held, mined, gone))).toEqual([held, gone]);
});
