import { setTimeout as sleep } from 'node:timers/promises';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

/** Number of payments of one order. Its reveal spends all of them. */
export const inputs = 1000;
/**
 * Number of files of the order. With this number, each payment is worth more than its input costs, and fewer payments
 * are not enough.
 */
export const filesOfMany = 300;
const askEveryMs = 10;

export interface ManyInputsParts {
  readonly origin: string;
  readonly pid: number;
  readonly chain: RegtestChain;
  readonly order: { readonly address: string; readonly amount: number };
  /** Settles once the node has all transactions of the order. */
  readonly sent: () => Promise<void>;
}

/**
 * Measures an order of many files that is paid with 1,000 outputs. Returns the time from the block with the payments
 * until the node has the reveal, the times of `/live` meanwhile, and the processor time of the process.
 */
export async function manyInputs({ origin, pid, chain, order, sent }: ManyInputsParts): Promise<Figure[]> {
  await payInParts(chain, order);
  await chain.mineMempool();
  const startedAt = performance.now();
  const before = familyCpuMs(pid);
  const live = watchLive(origin);
  await sent();
  const elapsedMs = performance.now() - startedAt;
  const times = await live();
  const after = familyCpuMs(pid);
  const cpuMs = before === null || after === null ? Number.NaN : after - before;
  return [
    { name: 'manyInputsSentMs', value: elapsedMs, unit: 'ms' },
    { name: 'manyInputsLiveP99Ms', value: percentile(times, 0.99), unit: 'ms' },
    { name: 'manyInputsLiveLongestMs', value: Math.max(...times), unit: 'ms', target: { most: 200 } },
    { name: 'manyInputsCpuMsEach', value: cpuMs / inputs, unit: 'ms', target: { most: 4 } },
  ];
}

/** Pays an order with many outputs of one transaction. */
async function payInParts(chain: RegtestChain, { address, amount }: ManyInputsParts['order']): Promise<void> {
  const { scriptPubKey } = await chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [address]);
  const value = Math.ceil(amount / inputs);
  const outputScript = Buffer.from(scriptPubKey, 'hex');
  const coin = await chain.coin();
  const parts = Array.from({ length: inputs }, () => ({ value, outputScript }));
  const change = { value: coin.value - inputs * value - 200_000, to: coin.owner };
  await chain.broadcast(transaction([coin], [...parts, change]));
}

/**
 * Requests `/live` repeatedly until the returned function is called. That function returns the times of the responses.
 */
function watchLive(origin: string): () => Promise<number[]> {
  const times: number[] = [];
  let isStopped = false;
  const asking = (async () => {
    while (!isStopped) {
      const at = performance.now();
      await (await fetch(`${origin}/live`)).text();
      times.push(performance.now() - at);
      await sleep(askEveryMs);
    }
  })();
  return async () => {
    isStopped = true;
    await asking;
    return times;
  };
}
