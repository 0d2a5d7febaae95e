import { feesBack, type Step, type StepBack, stepBack } from './step-back.ts';
import type { Missing, TraceSource } from './trace-source.ts';

/** A walk back, which is told what its steps lead to. */
export interface StepTaker {
  take(step: Step, back: StepBack): void;
}

/**
 * Asks for some steps at once and tells the walk. Returns why one of them cannot be taken; then it was told those
 * before. Throws the codes of NodeRpc, and `node_answer_invalid` for what does not fit.
 */
export async function takeSteps(
  source: Pick<TraceSource, 'transaction' | 'feePayers'>,
  walk: StepTaker,
  steps: readonly Step[],
): Promise<Missing | null> {
  const taken = await Promise.all(
    steps.map(async (step) => {
      if (step.kind === 'fees') {
        const payers = await source.feePayers(step.height);
        return 'missing' in payers ? payers : () => walk.take(step, feesBack(step.height, payers));
      }
      const { txid, height } = step;
      const transaction = await source.transaction(txid, height);
      if ('missing' in transaction) return transaction;
      return () => walk.take(step, stepBack(txid, height, transaction));
    }),
  );
  for (const each of taken) {
    if (typeof each !== 'function') return each;
    each();
  }
  return null;
}
