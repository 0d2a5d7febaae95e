import { expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { testWallet } from '#test/support/wallet/plans.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { findOutputs } from '#wallet/restoring/find-outputs.ts';
import { outputsAt } from '#wallet/take-back.ts';

const { wallet } = testWallet('regtest');
const signal = new AbortController().signal;

/** A node that answers scans like Bitcoin Core and notes the requests. */
function nodeThat(reason: string, asked: unknown[] = []): NodeRpc {
  return {
    url: 'http://node',
    call: async (_method, parameters) => {
      asked.push(parameters?.[0]);
      if (parameters?.[0] === 'status') return null as never;
      throw new AppError('node_call_failed', `The node answers with -8: ${reason}`, { rpcCode: -8 });
    },
  };
}
const restore = (node: NodeRpc) => {
  const known = endsAt(0);
  return findOutputs({ node, wallet, known, gap: 1, leaves: [], signal, onProgress: () => undefined });
};

test('while the node runs another scan, the message says to try again, and that scan is left alone', async () => {
  const asked: unknown[] = [];
  const node = nodeThat('Scan already in progress, use action "abort" or "status"', asked);
  await expect(restore(node)).rejects.toMatchObject({ code: 'node_scan_busy' });
  await expect(outputsAt(node, Uint8Array.of(0x51), signal)).rejects.toThrow(/try again in a minute/u);
  expect(asked).not.toContain('abort');
});

test('other refusals of a scan stay unchanged', async () => {
  await expect(restore(nodeThat('Range is too large'))).rejects.toMatchObject({ code: 'node_call_failed' });
});
