import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Asker } from '#kernel/contracts/asker.ts';
import { noKey } from '#kernel/contracts/asking-key.ts';
import { SatTracer, type TracedSats } from '#sat-ranges/sat-tracer.ts';
import type { TracedOutpoint } from '#sat-ranges/trace-source.ts';
import { SatChain } from '#test/support/chain/sats/sat-chain.ts';
import { testAsker } from '#test/support/http/asker.ts';

const subsidy = 5_000_000_000;
const bounds = { steps: 1_000, timeMs: 60_000, ranges: 1_000 };

/** A chain whose last output goes back through `depth` transactions, with one in each block. */
function longChain(depth: number): { chain: SatChain; last: TracedOutpoint } {
  const chain = new SatChain();
  let last: TracedOutpoint = { txid: chain.add({ transactions: [], coinbase: [subsidy] }), vout: 0 };
  for (let block = 1; block <= depth; block++) {
    chain.add({ transactions: [{ spends: [last], outputs: [subsidy] }], coinbase: [] });
    last = [...chain.unspent.values()].find(({ height }) => height === block)!;
  }
  return { chain, last };
}

/** A chain whose last output has a thousand ranges. They are dust of a thousand coinbases. */
function dustyChain(): { chain: SatChain; last: TracedOutpoint } {
  const chain = new SatChain();
  const spends = Array.from({ length: 40 }, () => ({
    txid: chain.add({ transactions: [], coinbase: [1] }),
    vout: 0,
  }));
  chain.add({ transactions: [{ spends, outputs: [40] }], coinbase: [] });
  return { chain, last: [...chain.unspent.values()].find(({ value }) => value === 40)! };
}

const reasonOf = (traced: TracedSats | null): string | null =>
  traced?.state === 'unknown' ? traced.reason : null;

test('an output that is not unspent has no answer', async () => {
  const { chain, last } = longChain(2);
  expect(await new SatTracer(chain, bounds).trace({ ...last, vout: 7 })).toBeNull();
});

describe('beyond a bound the sats are unknown, and it is said why', () => {
  test('more transactions than allowed', async () => {
    const { chain, last } = longChain(50);
    const known = await new SatTracer(chain, { ...bounds, steps: 51 }).trace(last);
    expect(known).toMatchObject({ state: 'known', steps: 51, ranges: [{ start: 0, end: subsidy }] });
    const unknown = await new SatTracer(chain, { ...bounds, steps: 50 }).trace(last);
    expect(unknown).toMatchObject({ state: 'unknown', steps: 50 });
    expect(unknown).not.toHaveProperty('ranges');
    expect(reasonOf(unknown)).toContain('more than 50 transactions');
  });

  test('more ranges than allowed', async () => {
    const { chain, last } = dustyChain();
    expect(await new SatTracer(chain, { ...bounds, ranges: 40 }).trace(last)).toMatchObject({
      state: 'known',
    });
    expect(reasonOf(await new SatTracer(chain, { ...bounds, ranges: 39 }).trace(last))).toContain(
      '39 ranges',
    );
  });

  test('a block that the node no longer has', async () => {
    const { chain, last } = longChain(10);
    chain.missingAt = 4;
    expect(reasonOf(await new SatTracer(chain, bounds).trace(last))).toBe('block 4 is gone');
  });

  test('a reorganisation meanwhile', async () => {
    const { chain, last } = longChain(5);
    chain.onAsk = () => {
      chain.branch = 1;
    };
    const tracer = new SatTracer(chain, bounds);
    expect(reasonOf(await tracer.trace(last))).toContain('reorganised');
    // the other branch contains the same transaction
    expect(await tracer.trace(last)).toMatchObject({ state: 'known', ranges: [{ start: 0, end: subsidy }] });
  });

  test('a reorganisation that takes back what its sats came from', async () => {
    const { chain, last } = longChain(5);
    chain.onAsk = () => {
      chain.branch = 1;
      chain.missingAt = 5;
    };
    expect(await new SatTracer(chain, bounds).trace(last)).toMatchObject({
      reason: 'meanwhile the chain was reorganised',
      isReorganised: true,
    });
  });

  test('no time left; on the next request the walk is continued', async () => {
    const { chain, last } = longChain(9);
    // a clock that moves one second for each response
    let now = 0;
    chain.onAsk = () => {
      now += 1_000;
    };
    const tracer = new SatTracer(chain, { ...bounds, timeMs: 4_000 }, () => now);
    const paused = await tracer.trace(last);
    expect(paused).toMatchObject({ state: 'unknown', steps: 4 });
    expect(reasonOf(paused)).toContain('after 4 transactions');
    expect(await tracer.trace(last)).toMatchObject({ state: 'unknown', steps: 8 });
    const known = await tracer.trace(last);
    expect(known).toMatchObject({ state: 'known', steps: 10, ranges: [{ start: 0, end: subsidy }] });
    // all requests together read each transaction once
    expect(chain.asked).toHaveLength(10);
    // a request with an earlier deadline gets fewer steps
    const { chain: other, last: output } = longChain(9);
    other.onAsk = chain.onAsk;
    expect(await new SatTracer(other, bounds, () => now).trace(output, undefined, now + 2_000)).toMatchObject(
      {
        state: 'unknown',
        steps: 2,
      },
    );
  });
});

describe('what is known', () => {
  test('is found once for all who ask at the same time, and later', async () => {
    const { chain, last } = longChain(20);
    const tracer = new SatTracer(chain, bounds);
    const answers = await Promise.all(Array.from({ length: 10 }, () => tracer.trace(last)));
    expect(new Set(answers).size).toBe(1);
    expect(await tracer.trace(last)).toBe(answers[0]);
    expect(chain.asked).toHaveLength(21);
  });

  test('is found again where the output is in another block', async () => {
    const { chain, last } = longChain(3);
    const tracer = new SatTracer(chain, bounds);
    await tracer.trace(last);
    chain.branch = 1;
    expect(await tracer.trace(last)).toMatchObject({
      state: 'known',
      output: { blockHash: chain.hashOf(3) },
    });
    expect(chain.asked).toHaveLength(8);
  });

  test('is not what a walk found that failed', async () => {
    const { chain, last } = longChain(3);
    const tracer = new SatTracer(chain, bounds);
    chain.onAsk = () => {
      throw new Error('the node is away');
    };
    await expect(tracer.trace(last)).rejects.toThrow('the node is away');
    chain.onAsk = () => undefined;
    expect(await tracer.trace(last)).toMatchObject({ state: 'known' });
  });
});

test('one client has one walk at a time, and too many who wait are refused', async () => {
  const chain = new SatChain();
  const coins = Array.from({ length: 80 }, () => ({
    txid: chain.add({ transactions: [], coinbase: [subsidy] }),
    vout: 0,
  }));
  const gate = Promise.withResolvers<void>();
  let walking = 0;
  let most = 0;
  chain.onAsk = async () => {
    most = Math.max(most, ++walking);
    await gate.promise;
    walking--;
  };
  const asker: Asker = {
    client: 'one',
    key: noKey,
    signal: new AbortController().signal,
    whenMade: () => undefined,
    whenOut: () => undefined,
  };
  const tracer = new SatTracer(chain, bounds);
  const asked = coins.map((coin) => tracer.trace(coin, asker).catch((error: unknown) => error));
  expect(tracer.waiting.limit).toBe(64);
  const refused = await Promise.race(asked);
  expect(refused).toMatchObject({ code: 'sats_busy' });
  gate.resolve();
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => (answer as TracedSats).state === 'known')).toHaveLength(65);
  expect(most).toBe(1);
});

describe('a walk that several ask for', () => {
  test('continues if the first caller leaves, and ends once all have left', async () => {
    const { chain, last } = longChain(6);
    const tracer = new SatTracer(chain, bounds);
    const gate = Promise.withResolvers<void>();
    chain.onAsk = () => gate.promise;
    const leaving = [new AbortController(), new AbortController()];
    const [first, second] = leaving.map(({ signal }, at) =>
      tracer.trace(last, testAsker(`client ${at}`, signal)),
    );
    await sleep(1);
    leaving[0]!.abort();
    gate.resolve();
    expect(await second).toMatchObject({ state: 'known' });
    await first;

    const { chain: another, last: unwanted } = longChain(6);
    const ended = new SatTracer(another, bounds);
    const held = Promise.withResolvers<void>();
    another.onAsk = () => held.promise;
    const alone = new AbortController();
    const asked = ended.trace(unwanted, testAsker('alone', alone.signal));
    await sleep(1);
    alone.abort();
    held.resolve();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    const before = another.asked.length;
    expect(before).toBeLessThan(6);
    // the parts of the walk that were made are not repeated
    expect(await ended.trace(unwanted)).toMatchObject({ state: 'known' });
  });

  test('does not wait behind other walks of the client that asked for it first', async () => {
    const chain = new SatChain();
    const coins = Array.from({ length: 3 }, () => ({
      txid: chain.add({ transactions: [], coinbase: [subsidy] }),
      vout: 0,
    }));
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    chain.onAsk = async () => {
      // the first walk takes a long time
      if (asked++ === 0) await gate.promise;
    };
    const tracer = new SatTracer(chain, bounds);
    const many = coins.map((coin) => tracer.trace(coin, testAsker('many')));
    expect(await tracer.trace(coins[2]!, testAsker('another'))).toMatchObject({ state: 'known' });
    gate.resolve();
    for (const one of many) expect(await one).toMatchObject({ state: 'known' });
  });
});
