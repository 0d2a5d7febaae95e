import { isDeepStrictEqual } from 'node:util';
import type { Holdings, RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedOutputKind, PlannedRunes, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { type RuneFlow, runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { sortedEdicts } from '#kernel/runes/runestone/encipher.ts';
import { isRunestoneScript } from '#kernel/runes/runestone/runestone-script.ts';
import { sumU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';

/**
 * Kinds of outputs that must not receive runes. Anyone may spend an anchor, and the inventory may have only special
 * sats.
 */
const withoutRunes: ReadonlySet<PlannedOutputKind> = new Set(['anchor', 'inventory']);

const noRunes: PlannedRunes = { held: [], given: [], burned: [], rest: 0, runestone: null };

/**
 * Finds a fault in how a plan moves runes, in words. The inputs hold other runes than the plan names, the runestone has
 * another meaning, or another output would receive the runes. Returns null if there is no fault.
 *
 * @param held contents by input
 */
export function runesFault(plan: TransactionPlan, held: readonly Holdings[]): string | null {
  const stones = plan.outputs.filter(({ script }) => isRunestoneScript(script)).length;
  const isPlain = held.every(({ runes }) => runes?.length === 0);
  if (isPlain && stones === 0 && plan.runes === undefined) return null;
  return stones > 1 ? 'two of its outputs are runestones' : namedFault(plan, plan.runes ?? noRunes, held);
}

function namedFault(plan: TransactionPlan, runes: PlannedRunes, held: readonly Holdings[]): string | null {
  const flow = runeFlow(plan.outputs, runesOf(held));
  return (
    namesFault(runes, held) ??
    runestoneFault(runes, flow) ??
    unknownFault(flow, held) ??
    restFault(plan, runes, flow) ??
    flowFault(runes, flow) ??
    kindFault(plan, flow)
  );
}

const runesOf = (held: readonly Holdings[]): RuneAmount[] => held.flatMap(({ runes }) => runes ?? []);

/** Checks that the plan names all runes of each input with their amounts, and no other runes. */
function namesFault({ held: named }: PlannedRunes, held: readonly Holdings[]): string | null {
  const known = held.flatMap(({ runes }, input) => (runes ?? []).map((rune) => ({ ...rune, at: input })));
  return differenceOf(
    sums(named.map(({ input, ...rune }) => ({ ...rune, at: input }))),
    sums(known),
    (name, input, planned, found) =>
      `input ${input} holds ${found} of rune ${name}, but the plan names ${planned}`,
  );
}

/** Checks that the runestone decodes to the contents that the plan names. */
function runestoneFault({ runestone }: PlannedRunes, { artifact }: RuneFlow): string | null {
  if (runestone === null) return artifact === null ? null : 'it has a runestone that it does not name';
  if (artifact === null) return 'it names a runestone, but none of its outputs is a runestone';
  if (artifact.kind === 'cenotaph') return `its runestone is malformed (${artifact.flaw}), which burns runes`;
  if (runestone.edicts.some(({ amount }) => amount === 0)) return 'an edict of 0 would move all of a rune';
  const expected = { ...runestone, edicts: sortedEdicts(runestone.edicts) };
  return isDeepStrictEqual(artifact, expected) ? null : 'its runestone is not read back as the plan says';
}

/** Checks that a plan has no edicts if some runes are unknown. Without edicts, all runes move to one output. */
function unknownFault({ artifact }: RuneFlow, held: readonly Holdings[]): string | null {
  if (artifact?.kind !== 'runestone' || artifact.edicts.length === 0) return null;
  // the amount of a mint is unknown until the mint is in a block
  return artifact.mint !== null || held.some(({ runes }) => runes === null)
    ? 'edicts move its runes, but not all of its runes are known'
    : null;
}

/** Checks that runes without an edict go to the output that the plan names, so that they are not burned. */
function restFault({ outputs }: TransactionPlan, { rest }: PlannedRunes, flow: RuneFlow): string | null {
  if (flow.rest === null) return 'runes that no edict moves would be burned';
  if (flow.rest !== rest)
    return `runes that no edict moves would go to output ${flow.rest} and not to ${rest}`;
  const kind = outputs[rest]?.kind;
  return kind === 'inventory'
    ? `runes that no edict moves would go to output ${rest}, of the kind ${kind}`
    : null;
}

/** Checks that each output receives the amounts that the plan names, and that nothing else is burned. */
function flowFault({ given, burned }: PlannedRunes, flow: RuneFlow): string | null {
  const byOutput = (all: RuneFlow['given']) =>
    sums(all.map(({ output, ...rune }) => ({ ...rune, at: output })));
  const lost = (all: readonly RuneAmount[]) => sums(all.map((rune) => ({ ...rune, at: 0 })));
  return (
    differenceOf(
      byOutput(given),
      byOutput(flow.given),
      (name, output, planned, found) =>
        `output ${output} would get ${found} of rune ${name}, but the plan names ${planned}`,
    ) ??
    differenceOf(
      lost(burned),
      lost(flow.burned),
      (name, _, planned, found) => `${found} of rune ${name} would be burned, but the plan names ${planned}`,
    )
  );
}

function kindFault({ outputs }: TransactionPlan, { given }: RuneFlow): string | null {
  for (const { output } of given) {
    const kind = outputs[output]?.kind;
    if (kind === undefined || withoutRunes.has(kind))
      return `runes would go to output ${output}, of the kind ${kind ?? 'none'}`;
  }
  return null;
}

/** Amounts by rune and by index of the input or output. */
type Sums = ReadonlyMap<string, { readonly name: string; readonly at: number; readonly amount: U128 }>;

function sums(all: readonly (RuneAmount & { readonly at: number })[]): Sums {
  const found = new Map<string, { name: string; at: number; amount: U128 }>();
  for (const { id, amount, at } of all) {
    const name = formatRuneId(id);
    const key = `${name} ${at}`;
    const before = found.get(key);
    found.set(key, { name, at, amount: before === undefined ? amount : sumU128(before.amount, amount) });
  }
  return found;
}

function differenceOf(
  planned: Sums,
  found: Sums,
  say: (name: string, at: number, planned: U128, found: U128) => string,
): string | null {
  for (const [key, { name, at }] of [...found, ...planned]) {
    const [wanted, is] = [planned.get(key)?.amount ?? zeroU128, found.get(key)?.amount ?? zeroU128];
    if (wanted !== is) return say(name, at, wanted, is);
  }
  return null;
}
