import {
  type HeldInscription,
  type Holdings,
  nothingHeld,
  type RuneAmount,
} from '#kernel/contracts/holdings.ts';
import type { PlannedReveal, PlannedRunes, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { etchedHere } from '#kernel/runes/rune-id.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';

/** Inscriptions and runes in an input, and the outputs of the plan that receive them. */
export interface SentHoldings {
  readonly input: number;
  /** Contents of the input in addition to sats. Absent if the input holds only sats. */
  readonly holds?: Holdings | undefined;
  /** Index of the output for the inscriptions. */
  readonly output: number;
  /** Index of the output for the runes. */
  readonly runesTo: number;
}

export interface PlannedHoldings {
  readonly sent: readonly SentHoldings[];
  readonly reveals?: readonly PlannedReveal[];
  /** Runestone of the plan. Null if the plan has no runestone. */
  readonly runestone?: Runestone | null;
  /** Index of the output for runes that no edict moves. */
  readonly rest: number;
}

/**
 * Adds to a plan which inscriptions and runes its inputs hold, and which outputs receive them. The wallet checks this
 * before it signs. Pure.
 */
export function withHoldings(
  plan: TransactionPlan,
  { sent, reveals = [], runestone = null, rest }: PlannedHoldings,
): TransactionPlan {
  const holding = sent.filter(({ holds }) => holds !== undefined && holds !== nothingHeld);
  const starts = startsOf(plan.inputs);
  const inscriptions = holding.flatMap(({ input, holds, output }) =>
    (holds?.inscriptions ?? []).map(({ id, offset }) => ({ id, at: (starts[input] ?? 0n) + offset, output })),
  );
  const held = holding.flatMap(({ input, holds, runesTo }) =>
    (holds?.runes ?? []).map((rune) => ({ ...rune, input, output: runesTo })),
  );
  const runes: PlannedRunes = {
    held: held.map(({ id, amount, input }) => ({ id, amount, input })),
    given: [...held, ...premineOf(runestone, rest)].map(({ id, amount, output }) => ({ id, amount, output })),
    burned: [],
    rest,
    runestone,
  };
  return {
    ...plan,
    ...(inscriptions.length === 0 ? {} : { inscriptions }),
    ...(reveals.length === 0 ? {} : { reveals }),
    ...(held.length === 0 && runestone === null && rest === 0 ? {} : { runes }),
  };
}

/** The premine of a runestone. No edict moves the premine. */
function premineOf(
  runestone: Runestone | null,
  output: number,
): (RuneAmount & { readonly output: number })[] {
  const premine = runestone?.etching?.premine ?? null;
  return premine === null || premine === 0 ? [] : [{ id: etchedHere, amount: premine, output }];
}

/** Inscriptions and runes in each output of a plan, according to the plan. */
export function namedOutputs(plan: TransactionPlan, txid: Txid): readonly Holdings[] {
  const { outputs, inscriptions = [], reveals = [], runes } = plan;
  if (inscriptions.length === 0 && reveals.length === 0 && runes === undefined)
    return outputs.map(() => nothingHeld);
  const starts = startsOf(outputs);
  const named = outputs.map((): Contents => ({ inscriptions: [], runes: [] }));
  const own = reveals.map((reveal, index) => ({ ...reveal, id: `${displayHash(txid)}i${index}` }));
  for (const { id, at, output } of [...inscriptions, ...own])
    named[output]?.inscriptions.push({ id, offset: at - (starts[output] ?? 0n) });
  if (runes !== undefined) for (const { output, ...rune } of runes.given) named[output]?.runes.push(rune);
  return named;
}

interface Contents {
  readonly inscriptions: HeldInscription[];
  readonly runes: RuneAmount[];
}

/** Number of sats before each input or output. */
function startsOf(parts: readonly { readonly value: bigint }[]): readonly bigint[] {
  let start = 0n;
  return parts.map(({ value }) => (start += value) - value);
}
