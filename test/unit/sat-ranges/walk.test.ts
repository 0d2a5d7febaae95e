import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { firstSatAt } from '#kernel/sats/epoch.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { CutWalk } from '#sat-ranges/cut-walk.ts';
import { feesBack, stepBack } from '#sat-ranges/step-back.ts';
import { takeSteps } from '#sat-ranges/take-steps.ts';
import type { TracedOutpoint, TracedOutput } from '#sat-ranges/trace-source.ts';
import { Walk } from '#sat-ranges/walk.ts';
import { type MadeTransaction, SatChain, sizeOf, txidOfNumber } from '#test/support/chain/sats/sat-chain.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const subsidy = 5_000_000_000;

async function walked(chain: SatChain, output: TracedOutput): Promise<SatRange[]> {
  return (await ended(chain, new Walk(output))).ranges();
}

/** Requests facts until a walk has all that it needs. */
async function ended<Some extends Walk | CutWalk>(chain: SatChain, walk: Some): Promise<Some> {
  for (let steps = walk.next(); steps.length > 0; steps = walk.next())
    expect(await takeSteps(chain, walk, steps)).toBeNull();
  return walk;
}

const outpoint = (txid: TxidHex, vout = 0): TracedOutpoint => ({ txid, vout });
const at = (chain: SatChain, txid: TxidHex, vout = 0) => chain.unspent.get(`${txid}:${vout}`)!;

describe('the sats of an output', () => {
  test('of a coinbase are the first of its block, in the order of its outputs', async () => {
    const chain = new SatChain();
    chain.add({ transactions: [], coinbase: [subsidy] });
    const txid = chain.add({ transactions: [], coinbase: [1_000, 0, subsidy - 1_000] });
    expect(await walked(chain, at(chain, txid, 0))).toEqual([{ start: subsidy, end: subsidy + 1_000 }]);
    expect(await walked(chain, at(chain, txid, 1))).toEqual([]);
    expect(await walked(chain, at(chain, txid, 2))).toEqual([{ start: subsidy + 1_000, end: 2 * subsidy }]);
  });

  test('follow the inputs, first in, first out, and stay cut where they were apart', async () => {
    const chain = new SatChain();
    const coin = chain.add({ transactions: [], coinbase: [subsidy] });
    chain.add({
      transactions: [{ spends: [outpoint(coin)], outputs: [10, subsidy - 10] }],
      coinbase: [subsidy],
    });
    const [ten, rest] = [...chain.unspent.values()].filter(
      ({ txid, height }) => height === 1 && txid !== coin,
    );
    chain.add({ transactions: [{ spends: [ten!, rest!], outputs: [subsidy] }], coinbase: [subsidy] });
    const joined = [...chain.unspent.values()].find(({ ranges }) => ranges.length === 2)!;
    // ord never joins two ranges that were cut
    expect(await walked(chain, joined)).toEqual([
      { start: 0, end: 10 },
      { start: 10, end: subsidy },
    ]);
  });

  test('of fees come after the subsidy, in the order of the block', async () => {
    const chain = new SatChain();
    const first = chain.add({ transactions: [], coinbase: [subsidy] });
    const second = chain.add({ transactions: [], coinbase: [subsidy] });
    const txid = chain.add({
      transactions: [
        { spends: [outpoint(second)], outputs: [subsidy - 7] },
        { spends: [outpoint(first)], outputs: [subsidy - 5] },
      ],
      coinbase: [subsidy + 12],
    });
    expect(await walked(chain, at(chain, txid))).toEqual([
      { start: 2 * subsidy, end: 3 * subsidy },
      { start: 2 * subsidy - 7, end: 2 * subsidy },
      { start: subsidy - 5, end: subsidy },
    ]);
  });

  test('leave out what a coinbase does not claim: its last sats are lost', async () => {
    const chain = new SatChain();
    const first = chain.add({ transactions: [], coinbase: [subsidy] });
    const txid = chain.add({
      transactions: [{ spends: [outpoint(first)], outputs: [subsidy - 9] }],
      coinbase: [subsidy - 1],
    });
    expect(await walked(chain, at(chain, txid))).toEqual([{ start: subsidy, end: 2 * subsidy - 1 }]);
    const fewer = chain.add({ transactions: [], coinbase: [subsidy / 2] });
    expect(await walked(chain, at(chain, fewer))).toEqual([{ start: 2 * subsidy, end: 2.5 * subsidy }]);
  });

  test('of twins are those of the later block (BIP 30)', async () => {
    const chain = new SatChain();
    chain.add({ transactions: [], coinbase: [subsidy], coinbaseName: 4_000_000_000 });
    chain.add({ transactions: [], coinbase: [subsidy] });
    const twin = chain.add({ transactions: [], coinbase: [subsidy], coinbaseName: 4_000_000_000 });
    expect(at(chain, twin).height).toBe(2);
    expect(await walked(chain, at(chain, twin))).toEqual([{ start: 2 * subsidy, end: 3 * subsidy }]);
    // a transaction that spends the twin also gets the twin's sats
    chain.add({ transactions: [{ spends: [outpoint(twin)], outputs: [subsidy] }], coinbase: [subsidy] });
    const spender = [...chain.unspent.values()].find(({ height, txid }) => height === 3 && txid !== twin)!;
    expect(await walked(chain, spender)).toEqual([{ start: 2 * subsidy, end: 3 * subsidy }]);
  });

  test('are found with one question a transaction, however many ways lead to it', async () => {
    const chain = new SatChain();
    let coins = [outpoint(chain.add({ transactions: [], coinbase: [subsidy] }))];
    // every block cuts all sats and joins them again, so there are two to the 40th paths
    for (let block = 0; block < 40; block++) {
      const value = subsidy / 2;
      chain.add({ transactions: [{ spends: coins, outputs: [value, value] }], coinbase: [] });
      coins = [...chain.unspent.values()].filter(({ height }) => height === block + 1).toReversed();
    }
    const [last] = coins;
    expect(sizeOf(await walked(chain, at(chain, last!.txid, last!.vout)))).toBe(subsidy / 2);
    expect(new Set(chain.asked).size).toBe(chain.asked.length);
    expect(chain.asked).toHaveLength(41);
  });
});

test('a node that contradicts itself is found out', () => {
  const [txid, other] = [txidOfNumber(1), txidOfNumber(2)];
  const height = asHeight(5);
  const output = { txid, vout: 1, value: 10, height, blockHash: 'a' as never };
  const input = { txid: other, vout: 0, height: asHeight(4) };
  const step = { kind: 'transaction', txid, height } as const;
  for (const transaction of [
    { outputs: [10], inputs: [{ ...input, value: 20 }] },
    { outputs: [10, 9], inputs: [{ ...input, value: 19 }] },
    { outputs: [10, 10], inputs: [{ ...input, value: 19 }] },
    { outputs: [10, 10], inputs: [] },
  ]) {
    const walk = new Walk(output);
    expect(() => walk.take(step, stepBack(txid, height, transaction))).toThrow(AppError);
  }
  const coinbase = new Walk({ ...output, vout: 0, value: subsidy + 2 });
  coinbase.take(step, stepBack(txid, height, { outputs: [subsidy + 2], inputs: null }));
  const fees = feesBack(height, [{ txid: other, outputsTotal: 3, fee: 1 }]);
  expect(() => coinbase.take({ kind: 'fees', height }, fees)).toThrow(AppError);
});

/** Random numbers that decide, one after the other, how a chain looks. */
class Choices {
  readonly #numbers: readonly number[];
  #place = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  get isOver(): boolean {
    return this.#place >= this.#numbers.length;
  }

  below(end: number): number {
    return (this.#numbers[this.#place++ % this.#numbers.length] ?? 0) % Math.max(end, 1);
  }

  /** One of these amounts. */
  of(amounts: readonly number[]): number {
    return amounts[this.below(amounts.length)] ?? 0;
  }
}

/** Makes a transaction that splits some of these outputs. Returns it with its fee. */
function randomTransaction(unspent: TracedOutput[], choices: Choices): MadeTransaction & { fee: number } {
  const spends = Array.from({ length: 1 + choices.below(3) }, () =>
    unspent.splice(choices.below(unspent.length), 1),
  ).flat();
  let fee = spends.reduce((sum, { value }) => sum + value, 0);
  const outputs: number[] = [];
  for (let more = choices.below(4); more > 0; more--) {
    const value = Math.min(choices.of([0, 1, fee, Math.floor(fee / 2), choices.below(fee + 1)]), fee);
    outputs.push(value);
    fee -= value;
  }
  return { spends, outputs, fee };
}

/** A random chain. If `twins` is set, some coinbases are repeated four blocks later, like those of BIP 30. */
function randomChain(given: readonly number[], twins: boolean): SatChain {
  const chain = new SatChain();
  const choices = new Choices(given);
  let twin: { coinbaseName: number; coinbase: readonly number[] } | null = null;
  for (let block = 0; !choices.isOver; block++) {
    const unspent: TracedOutput[] = [...chain.unspent.values()];
    const transactions = Array.from({ length: choices.below(4) }, () => randomTransaction(unspent, choices));
    const all = transactions.reduce((sum, { fee }) => sum + fee, subsidyAt(asHeight(block)) as number);
    const claimed = choices.of([all, all, all - 1, Math.floor(all / 2), choices.below(all + 1)]);
    const first = choices.of([claimed, Math.floor(claimed / 3), 0]);
    const coinbase = [first, claimed - first];
    const place = twins ? block % 5 : -1;
    if (place === 4 && twin !== null) chain.add({ transactions: [], ...twin });
    else if (place === 0) {
      twin = { coinbaseName: 3_000_000_000 + block, coinbase: [subsidy - 3, 2] };
      chain.add({ transactions: [], ...twin });
    } else chain.add({ transactions, coinbase });
  }
  return chain;
}

const numbers = fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 20, maxLength: 400 });

describe('over random chains', () => {
  test.each([
    ['', false],
    [', with twins of coinbases', true],
  ])('every output has the sats that an index gives it forwards%s', async (_words, twins) => {
    await fc.assert(
      fc.asyncProperty(numbers, async (given) => {
        const chain = randomChain(given, twins);
        for (const { ranges, ...output } of chain.unspent.values())
          expect(await walked(chain, output)).toEqual(ranges);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('a place between two sats is cut where ranges begin, and nowhere else', async () => {
    await fc.assert(
      fc.asyncProperty(numbers, fc.nat(), async (given, some) => {
        const chain = randomChain(given, false);
        const places: PlaceInOutput[] = [];
        const expected: boolean[] = [];
        for (const { ranges, txid, vout, height, value } of chain.unspent.values()) {
          let end = 0;
          const cuts = new Set(ranges.map((range) => (end += sizeOf([range]))));
          for (const offset of [
            ...cuts,
            ...[...cuts].map((cut) => cut - 1),
            1 + (some % Math.max(value, 1)),
          ]) {
            if (offset <= 0 || offset >= value) continue;
            places.push({ txid, vout, height, offset });
            expected.push(cuts.has(offset));
          }
        }
        expect((await ended(chain, new CutWalk(places))).cuts()).toEqual(expected);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('the sats of all outputs and the lost ones are all that were mined, each once', () => {
    fc.assert(
      fc.property(numbers, (given) => {
        const chain = randomChain(given, true);
        const all = [...[...chain.unspent.values()].flatMap(({ ranges }) => ranges), ...chain.lost];
        all.sort((a, b) => a.start - b.start);
        let next = 0;
        for (const { start, end } of all) {
          expect(start).toBe(next);
          next = end;
        }
        expect(next).toBe(firstSatAt(asHeight(chain.height + 1)));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
