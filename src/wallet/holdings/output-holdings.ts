import {
  type HeldInscription,
  type Holdings,
  nothingHeld,
  type RuneAmount,
} from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { SatFlow, startsOf } from './sat-flow.ts';

/**
 * Computes the contents of a plan's outputs. The plan must be signed and without faults.
 *
 * @param held contents by input
 */
export function outputHoldings(
  plan: TransactionPlan,
  txid: Txid,
  held: readonly Holdings[],
): readonly Holdings[] {
  const areKnown = held.every(({ inscriptions, runes }) => inscriptions !== null && runes !== null);
  const isPlain = plan.inscriptions === undefined && plan.reveals === undefined && plan.runes === undefined;
  if (areKnown && isPlain) return plan.outputs.map(() => nothingHeld);
  const flow = new SatFlow(plan.outputs);
  const named = namedContents(plan, txid, flow);
  return areKnown ? named : withUnknown(named, plan, held, flow);
}

function namedContents(
  { outputs, inscriptions = [], reveals = [], runes }: TransactionPlan,
  txid: Txid,
  flow: SatFlow,
): readonly Holdings[] {
  const byOutput = outputs.map((): Contents => ({ inscriptions: [], runes: [] }));
  const own = reveals.map((reveal, index) => ({ ...reveal, id: `${displayHash(txid)}i${index}` }));
  for (const { id, at, output } of [...inscriptions, ...own])
    byOutput[output]?.inscriptions.push({ id, offset: at - flow.startOf(output) });
  for (const { output, ...rune } of runes?.given ?? []) byOutput[output]?.runes.push(rune);
  return byOutput;
}

interface Contents {
  readonly inscriptions: HeldInscription[];
  readonly runes: RuneAmount[];
}

/** Marks the contents of an output as unknown, if the output may hold more than the known contents. */
function withUnknown(
  known: readonly Holdings[],
  plan: TransactionPlan,
  held: readonly Holdings[],
  flow: SatFlow,
): readonly Holdings[] {
  const unknown = unknownOutputs(plan, held, flow);
  const rest = held.some(({ runes }) => runes === null) ? (plan.runes?.rest ?? 0) : null;
  return known.map(({ inscriptions, runes }, output) => ({
    inscriptions: unknown.has(output) ? null : inscriptions,
    runes: rest === output ? null : runes,
  }));
}

/** Outputs that receive sats of inputs with unknown inscriptions. */
function unknownOutputs(
  { inputs }: TransactionPlan,
  held: readonly Holdings[],
  flow: SatFlow,
): ReadonlySet<number> {
  const starts = startsOf(inputs);
  const outputs = inputs.flatMap(({ value }, place) => {
    const start = starts[place] ?? 0n;
    return held[place]?.inscriptions === null ? flow.outputsIn(start, start + value) : [];
  });
  return new Set(outputs);
}
