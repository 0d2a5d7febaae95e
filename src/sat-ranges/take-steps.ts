import type { TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Step } from './step-back.ts';
import type { FeePayer, Missing, TracedTransaction, TraceSource } from './trace-source.ts';

/** A walk back, which is told what its steps lead to. */
export interface StepLearner {
  learn(txid: TxidHex, height: Height, transaction: TracedTransaction): void;
  learnFees(height: Height, payers: readonly FeePayer[]): void;
}

/**
 * Asks for some steps at once and tells the walk. Returns why one of them cannot be taken; then it was told those
 * before. Throws the codes of NodeRpc, and `node_answer_invalid` for what does not fit.
 */
export async function takeSteps(
  source: Pick<TraceSource, 'transaction' | 'feePayers'>,
  walk: StepLearner,
  steps: readonly Step[],
): Promise<Missing | null> {
  const taken = await Promise.all(
    steps.map(async (step) => {
      if (step.kind === 'fees') {
        const payers = await source.feePayers(step.height);
        return 'missing' in payers ? payers : () => walk.learnFees(step.height, payers);
      }
      const { txid, height } = step;
      const transaction = await source.transaction(txid, height);
      return 'missing' in transaction ? transaction : () => walk.learn(txid, height, transaction);
    }),
  );
  for (const each of taken) {
    if (typeof each !== 'function') return each;
    each();
  }
  return null;
}
