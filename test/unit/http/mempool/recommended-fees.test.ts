import { expect, test } from 'vitest';
import { FeeEstimates } from '#http/mempool/recommended-fees.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * A node whose estimates a test chooses, by target, in BTC per kvB. A real node only estimates after hundreds of
 * blocks.
 */
function nodeWith(
  estimates: Readonly<Record<number, number>>,
  { mempoolminfee = 0.00001, minrelaytxfee = 0.00001 } = {},
): { node: NodeRpc; calls: string[]; fail: (error: AppError | null) => void } {
  const calls: string[] = [];
  let failure: AppError | null = null;
  const answer = (method: string, [blocks]: readonly unknown[]): unknown => {
    if (method === 'getmempoolinfo') return { mempoolminfee, minrelaytxfee };
    const feerate = estimates[Number(blocks)];
    return feerate === undefined ? { errors: ['Insufficient data or no feerate found'] } : { feerate };
  };
  return {
    calls,
    fail: (error) => {
      failure = error;
    },
    node: {
      url: 'http://node',
      call: async <Result>(method: string, parameters: readonly unknown[] = []) => {
        calls.push(method);
        if (failure !== null) throw failure;
        return answer(method, parameters) as Result;
      },
    },
  };
}

test('fees are whole sats per virtual byte, rounded up', async () => {
  const { node } = nodeWith({ 2: 0.00025001, 3: 0.00012, 6: 0.00008999, 144: 0.00002 });
  expect(await new FeeEstimates(node).recommended()).toEqual({
    fastestFee: 26,
    halfHourFee: 12,
    hourFee: 9,
    economyFee: 2,
    minimumFee: 1,
  });
});

test('a faster target never costs less, and no fee is below the minimum of the mempool', async () => {
  const { node } = nodeWith({ 2: 0.00005, 3: 0.00009, 144: 0.00001 }, { mempoolminfee: 0.00003001 });
  expect(await new FeeEstimates(node).recommended()).toEqual({
    fastestFee: 9,
    halfHourFee: 9,
    hourFee: 4,
    economyFee: 4,
    minimumFee: 4,
  });
});

test('a minimum below one sat is rounded up to one', async () => {
  const { node } = nodeWith({}, { mempoolminfee: 0.000001, minrelaytxfee: 0.000001 });
  expect(Object.values(await new FeeEstimates(node).recommended())).toEqual([1, 1, 1, 1, 1]);
});

test('the node is asked once for all clients, and again after a failure', async () => {
  const { node, calls, fail } = nodeWith({ 2: 0.0001 });
  const fees = new FeeEstimates(node);
  fail(new AppError('node_unreachable', 'away'));
  await expect(Promise.all([fees.recommended(), fees.recommended()])).rejects.toThrow('away');
  expect(calls).toEqual(['getmempoolinfo']);
  fail(null);
  const [one, other] = await Promise.all([fees.recommended(), fees.recommended()]);
  expect(one).toEqual(other);
  expect(calls.filter((method) => method === 'getmempoolinfo')).toHaveLength(2);
});
