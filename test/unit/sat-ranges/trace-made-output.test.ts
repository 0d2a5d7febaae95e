import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type MadeOutputBounds, traceMadeOutput } from '#sat-ranges/trace-made-output.ts';
import { SatChain } from '#test/support/chain/sats/sat-chain.ts';

const subsidy = 5_000_000_000;
const never = new AbortController().signal;
const bounds: MadeOutputBounds = { steps: 100, ranges: 100 };

/** A chain that cuts and joins coins and pays fees. Most of its outputs are spent. */
function mixedChain(): SatChain {
  const chain = new SatChain();
  const coin = () => ({ txid: chain.add({ transactions: [], coinbase: [subsidy] }), vout: 0 });
  const [first, second, third] = [coin(), coin(), coin()];
  const withFees = chain.add({
    transactions: [
      { spends: [third, first], outputs: [10, subsidy, subsidy - 1_010] },
      { spends: [second], outputs: [subsidy - 7] },
    ],
    coinbase: [subsidy + 1_007],
  });
  const cut = [...chain.unspent.values()].filter(({ height, txid }) => height === 3 && txid !== withFees);
  chain.add({
    transactions: [{ spends: [...cut.toReversed(), { txid: withFees, vout: 0 }], outputs: [subsidy, 5] }],
    coinbase: [subsidy],
  });
  return chain;
}

test('the sats of each output that there ever was are those that it had, spent or not', async () => {
  const chain = mixedChain();
  const outputs = [...chain.made.values()];
  expect(outputs.length).toBeGreaterThan(chain.unspent.size);
  for (const { txid, vout, height, blockHash, ranges } of outputs)
    expect(await traceMadeOutput(chain, { txid, vout, height }, never, bounds)).toEqual({
      kind: 'found',
      blockHash,
      ranges,
    });
});

test('what is not in the block that is named, or goes beyond a bound, is missing with the reason', async () => {
  const chain = mixedChain();
  const last = [...chain.made.values()].find(({ height, value }) => height === 4 && value === subsidy)!;
  const reason = async (given: object, of: Partial<MadeOutputBounds> = {}): Promise<string> => {
    const found = await traceMadeOutput(chain, { ...last, ...given }, never, { ...bounds, ...of });
    return found.kind === 'missing' ? found.reason : '';
  };
  expect(await reason({ height: asHeight(3) })).toContain('at 3');
  expect(await reason({}, { steps: 2 })).toContain('more than 2 transactions');
  expect(await reason({}, { ranges: 1 })).toContain('more than 1 ranges');
  chain.missingAt = 3;
  expect(await reason({})).toBe('block 3 is gone');
});

test('a reorganisation of its block makes it missing, and an ended process ends the walk', async () => {
  const chain = mixedChain();
  const last = [...chain.made.values()].at(-1)!;
  const stop = new AbortController();
  chain.onAsk = () => {
    chain.branch = 1;
  };
  // the first request still gets the block from before the reorganisation
  expect(await traceMadeOutput(chain, last, never, bounds)).toEqual({
    kind: 'missing',
    reason: 'meanwhile the chain was reorganised',
  });
  stop.abort(new Error('ended'));
  await expect(traceMadeOutput(chain, last, stop.signal, bounds)).rejects.toThrow('ended');
});
