import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { PlanningSigner } from '#orders/making/delivery-planning.ts';
import type { PlannedTransaction } from '#orders/making/plan-delivery.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** An output, and sats of it that come before one of its sats. */
export interface PlaceInOutput {
  /** `<txid>:<vout>` */
  readonly outpoint: string;
  readonly offset: bigint;
}

/**
 * The outputs with the sats that the transactions of a delivery inscribe, for each file, in order: those that its commit
 * spends, or its reveals where it has none. By what the plans name, which the wallet compares to what happens. Pure.
 */
export function inscribedOutputs(
  planned: readonly PlannedTransaction[],
  signer: Pick<PlanningSigner, 'unsigned'>,
): readonly PlaceInOutput[] {
  const commit = planned.find(({ kind }) => kind === 'commit')?.plan ?? null;
  const committed = new Map(
    commit?.outputs.map((_, vout) => [outpointOf({ ...signer.unsigned(commit), vout }), vout]),
  );
  return planned.flatMap(({ kind, plan }) =>
    kind !== 'reveal' || plan.reveals === undefined
      ? []
      : plan.reveals.map(({ at }): PlaceInOutput => {
          const place = placeAt(plan, at);
          const vout = committed.get(place.outpoint);
          if (commit === null || vout === undefined) return place;
          return placeAt(commit, valueOf(commit.outputs.slice(0, vout)) + place.offset);
        }),
  );
}

/** The input with a sat of a transaction, by the sats before it. */
function placeAt({ inputs }: TransactionPlan, at: bigint): PlaceInOutput {
  let before = 0n;
  for (const input of inputs) {
    if (at < before + input.value) return { outpoint: outpointOf(input), offset: at - before };
    before += input.value;
  }
  throw new RangeError('a sat that no input has is not inscribed');
}
