import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { PlanningSigner } from '#orders/making/delivery-planning.ts';
import type { PlannedTransaction } from '#orders/making/plan-delivery.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** An output, and the number of its sats before a certain sat. */
export interface PlaceInOutput {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  readonly offset: bigint;
}

/**
 * Outputs with the sats that a delivery's transactions inscribe, one for each file, in the sequence of the files. They
 * are inputs of the delivery's commit, or of its reveal if there is no commit. They are computed from the plans, which
 * the wallet checks before signing. Pure.
 */
export function inscribedOutputs(
  planned: readonly PlannedTransaction[],
  signer: Pick<PlanningSigner, 'unsigned'>,
): readonly PlaceInOutput[] {
  const commit = planned.find(({ kind }) => kind === 'commit')?.plan ?? null;
  const paid = commit === null ? null : placesIn(commit.inputs);
  const committed = commit === null ? new Map<string, bigint>() : startsOf(commit, signer);
  return planned.flatMap(({ kind, plan }) => {
    if (kind !== 'reveal' || plan.reveals === undefined) return [];
    const placeOf = placesIn(plan.inputs);
    return plan.reveals.map(({ at }): PlaceInOutput => {
      const place = placeOf(at);
      const start = committed.get(place.outpoint);
      return paid === null || start === undefined ? place : paid(start + place.offset);
    });
  });
}

/** Number of sats before each output of a transaction, by outpoint. */
function startsOf(plan: TransactionPlan, signer: Pick<PlanningSigner, 'unsigned'>): Map<string, bigint> {
  const { txid } = signer.unsigned(plan);
  let start = 0n;
  return new Map(
    plan.outputs.map(({ value }, vout) => [outpointOf({ txid, vout }), (start += value) - value] as const),
  );
}

/** Returns a function that finds the input with a sat, by the number of sats before that sat. */
function placesIn(inputs: TransactionPlan['inputs']): (at: bigint) => PlaceInOutput {
  const outpoints = inputs.map((input) => ({ outpoint: outpointOf(input), value: input.value }));
  return (at) => {
    let before = 0n;
    for (const { outpoint, value } of outpoints) {
      if (at < before + value) return { outpoint, offset: at - before };
      before += value;
    }
    throw new RangeError('an inscribed sat is in an input');
  };
}
