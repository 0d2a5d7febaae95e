import { describe, expect, test } from 'vitest';
import { runestoneJson } from '#http/ord/transactions/runestone-json.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { exactJson } from '#test/support/exact-json.ts';

interface Decoded {
  readonly key: string;
  readonly value?: { readonly runestone: unknown };
}

/**
 * The recording asked ord about all transactions with an envelope or a runestone. All other transactions have neither.
 */
describe.each(goldenChainNames)('runestones of the golden chain %s equal those of ord', (name) => {
  const golden = new GoldenChain(name);

  test.each(golden.tips())('at its tip $name', (tip) => {
    const recorded = new Map(
      golden.answerLines(tip, 'decode').map((line) => {
        const { key, value } = exactJson(line) as Decoded;
        return [key, value?.runestone ?? null];
      }),
    );
    const { answers, headers } = tip;
    // at a stale tip, only the blocks of its branch were recorded
    const isComplete = answers === 'answers';
    let runestones = 0;
    for (const header of headers) {
      const transactions = RawTransactions.ofBlock(golden.block(header).bytes);
      for (let place = 0; place < transactions.count; place++) {
        const { txid, outputs } = transactions.at(place);
        const expected = recorded.get(displayHash(txid));
        if (expected === undefined && !isComplete) continue;
        const found = exactJson([...runestoneJson(outputs)].join(''));
        expect(found, displayHash(txid)).toEqual(expected ?? null);
        if (found !== null) runestones++;
      }
    }
    expect(runestones).toBe([...recorded.values()].filter((value) => value !== null).length);
  });
});
