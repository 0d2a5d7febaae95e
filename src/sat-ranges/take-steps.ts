import { feesBack, type Step, type StepBack, stepBack } from './step-back.ts';
import type { Missing, TraceSource } from './trace-source.ts';

/** A backward walk that receives the result of each step. */
export interface StepTaker {
  take(step: Step, back: StepBack): void;
}

/**
 * Requests some steps at the same time, and passes the results to the walk. Returns null, or the reason why a step has
 * no result. The walk then has the results of the earlier steps. Throws the codes of NodeRpc, and `node_answer_invalid`
 * for results that do not match.
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
