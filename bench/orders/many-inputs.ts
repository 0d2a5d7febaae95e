import { familyCpuMs } from '#kernel/stages/process-times.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { askedBeside } from '../asked-beside.ts';
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
/** How long an answer may take. Without an answer the bench would never end. */
const answerMaxMs = 30_000;

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
 * until the node has the reveal, the times of `/health/live` meanwhile, and the processor time of the process.
 */
export async function manyInputs({ origin, pid, chain, order, sent }: ManyInputsParts): Promise<Figure[]> {
  await payInParts(chain, order);
  await chain.mineMempool();
  const startedAt = performance.now();
  const before = familyCpuMs(pid);
  const live = async (): Promise<string> => {
    const answer = await fetch(`${origin}/health/live`, { signal: AbortSignal.timeout(answerMaxMs) });
    return answer.text();
  };
  const { result: elapsedMs, times } = await askedBeside(
    { everyMs: askEveryMs, atOnce: 1 },
    live,
    async () => {
      await sent();
      return performance.now() - startedAt;
    },
  );
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
