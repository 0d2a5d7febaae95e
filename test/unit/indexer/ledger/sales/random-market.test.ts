import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { ClassifiedMove } from '#indexer/ledger/sales/classify-moves.ts';
import { moveClasses } from '#kernel/sales/sale-names.ts';
import { seededRandom } from '#test/builders/random.ts';
import { classifiedBlock, marketBlock } from '#test/support/sales/classified-block.ts';
import type { MarketTransaction, MoveLabel } from '#test/support/sales/market-coins.ts';
import { RandomMarket } from '#test/support/sales/random-market.ts';
import { scanMoves } from '#test/support/sales/sale-scanner.ts';

const hexOf = (script: string): string => Buffer.from(script, 'latin1').toString('hex');

/** The index's verdict, written as a label. */
function labelOf({ class: of, sold }: ClassifiedMove): MoveLabel {
  if (sold === null) return { class: of, ...nothing };
  const { price, grossPayout, maker, taker, feeOutput, isWash: wash } = sold;
  return {
    class: of,
    price,
    grossPayout,
    maker: hexOf(maker),
    taker: taker === null ? null : hexOf(taker),
    feeOutput,
    wash,
  };
}

const nothing = { price: null, grossPayout: null, maker: null, taker: null, feeOutput: null, wash: null };
const unseen = { class: 'unseen', ...nothing };

function inBlocks(transactions: readonly MarketTransaction[]): MoveLabel[][] {
  const perBlock = 500;
  const labels: MoveLabel[][] = [];
  for (let at = 0; at < transactions.length; at += perBlock) {
    const part = transactions.slice(at, at + perBlock);
    const classified = classifiedBlock(marketBlock(part));
    // Index 0 is the coinbase. For the index, a skipped transaction is not a sale, so the scanner must agree.
    for (const [place, tx] of part.entries()) {
      const moves = classified.get(place + 1);
      labels.push(
        moves?.map(labelOf) ?? scanMoves(tx).map((label) => (label.price === null ? label : unseen)),
      );
    }
  }
  return labels;
}

/** The first transactions for which two verdicts differ. */
function differences(
  transactions: readonly MarketTransaction[],
  one: readonly (readonly MoveLabel[])[],
  other: readonly (readonly MoveLabel[])[],
): unknown[] {
  return transactions
    .map(({ kind }, at) => ({ at, kind, one: one[at], other: other[at] }))
    .filter((both) => !isDeepStrictEqual(both.one, both.other))
    .slice(0, 3);
}

const count = 10_000;

describe('of a random market of 10,000 transactions', () => {
  const market = new RandomMarket('proof');
  const transactions = Array.from({ length: count }, () => market.next());
  const said = inBlocks(transactions);

  test('each move agrees with its maker and with the scanner', () => {
    expect(said).toHaveLength(count);
    const labels = transactions.map((tx) => tx.labels);
    expect(differences(transactions, said, labels)).toEqual([]);
    expect(differences(transactions, transactions.map(scanMoves), labels)).toEqual([]);
  });

  test('each class and each kind has at least 200', () => {
    const counts = new Map<string, number>();
    const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { kind, labels } of transactions) {
      add(kind);
      for (const { class: of } of labels) add(of);
    }
    for (const name of Object.keys(moveClasses)) expect(counts.get(name), name).toBeGreaterThanOrEqual(200);
    expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(200);
  });
});

/** Changes a transaction in a way that its maker did not intend. */
function tampered(tx: MarketTransaction, below: (bound: number) => number): MarketTransaction {
  const inputs = [...tx.inputs];
  const outputs = [...tx.outputs];
  const [from, to] = [below(inputs.length), below(outputs.length)];
  const other = below(outputs.length);
  switch (below(6)) {
    case 0: {
      outputs[to] = { ...outputs[to]!, script: inputs[from]!.spent.script };
      break;
    }
    case 1: {
      [outputs[to], outputs[other]] = [outputs[other]!, outputs[to]!];
      break;
    }
    case 2: {
      const at = below(inputs.length);
      [inputs[from], inputs[at]] = [inputs[at]!, inputs[from]!];
      break;
    }
    case 3: {
      outputs[to] = { ...outputs[to]!, value: below(2) * below(20_000) };
      break;
    }
    case 4: {
      const types = [0x01, 0x02, 0x03, 0x81, 0x82, 0x83];
      const retyped = (one: Uint8Array): Uint8Array =>
        one.length === 65 || one[0] === 0x30
          ? Uint8Array.from(one).fill(types[below(types.length)]!, one.length - 1)
          : one;
      inputs[from] = { ...inputs[from]!, witness: inputs[from]!.witness.map(retyped) };
      break;
    }
    default: {
      const { spent, items } = inputs[from]!;
      inputs[from] = { ...inputs[from]!, items: [...items, below(spent.value)].toSorted((a, b) => a - b) };
    }
  }
  const sats = (coins: readonly { readonly value: number }[]): number =>
    coins.reduce((sum, { value }) => sum + value, 0);
  // no block contains a transaction that pays more than it spends
  return sats(outputs) > sats(inputs.map(({ spent }) => spent)) ? tx : { ...tx, inputs, outputs };
}

test('the scanner agrees about 10,000 tampered ones, with up to three changes', {
  tags: ['proof'],
}, () => {
  const market = new RandomMarket('tampered');
  const random = seededRandom('tampered');
  const below = (bound: number): number => random.below(bound);
  const transactions = Array.from({ length: count }, () => {
    let tx = market.next();
    for (let times = 1 + below(3); times > 0; times--) tx = tampered(tx, below);
    return tx;
  });
  const moving = transactions.filter(({ inputs }) => inputs.some(({ items }) => items.length > 0));
  const said = inBlocks(moving);
  expect(said).toHaveLength(moving.length);
  expect(differences(moving, said, moving.map(scanMoves))).toEqual([]);
});
