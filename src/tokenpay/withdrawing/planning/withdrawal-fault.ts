import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { type RuneFlow, runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { satsOf } from './withdrawal-layout.ts';
import type { WithdrawalLimits, WithdrawalPlan } from './withdrawal-plan.ts';

const opReturn = 0x6a;

/**
 * Simulates a plan according to the consensus rules before it is signed. Returns null if the plan is right: each output
 * gets its sats and units, all other units go to the first output, which is a change, and nothing is burned. Otherwise
 * returns the first fault, in words. Pure.
 *
 * @param held runes by input, which come from the index and not from the planner
 */
export function withdrawalFault(
  plan: WithdrawalPlan,
  held: readonly (readonly RuneAmount[])[],
  limits: WithdrawalLimits,
): string | null {
  return frameFault(plan, limits) ?? satsFault(plan) ?? heldFault(plan, held) ?? flowFault(plan, held);
}

function frameFault({ inputs, outputs, weight }: WithdrawalPlan, limits: WithdrawalLimits): string | null {
  if (new Set(inputs.map(outpointOf)).size !== inputs.length) return 'two inputs spend one output';
  const signed = plannedWeight({
    inputs: inputs.map(({ script }) => ({ script, path: 'key', leafScript: null })),
    outputs,
  });
  if (signed !== weight) return `it weighs ${signed} weight units, and names ${weight}`;
  if (weight > limits.weightMax)
    return `it weighs ${weight} weight units, and ${limits.weightMax} are the maximum`;
  const burns = outputs.filter(({ script }) => script[0] === opReturn);
  if (burns.length > 1) return 'it has two OP_RETURN outputs';
  const bytes = burns[0]?.script.length ?? 0;
  return bytes > limits.dataCarrierBytes
    ? `its OP_RETURN output has ${bytes} bytes, and the node relays at most ${limits.dataCarrierBytes}`
    : null;
}

function satsFault({ inputs, outputs, fee, overpaid }: WithdrawalPlan): string | null {
  for (const [place, { kind, script, value }] of outputs.entries()) {
    if ((kind === 'burn') !== (script[0] === opReturn)) return `output ${place} is not of the kind ${kind}`;
    if (kind === 'burn' ? value !== 0n : value < BigInt(dustOf(script)))
      return `output ${place} has ${value} sats`;
  }
  const paid = outputs.reduce((sum, { value }) => sum + value, 0n);
  if (fee <= 0n || overpaid < 0n || overpaid >= fee)
    return `its fee is ${fee} sats, which is ${overpaid} too many`;
  return satsOf(inputs) === paid + fee
    ? null
    : `its inputs have ${satsOf(inputs)} sats, its outputs ${paid}, and its fee is ${fee}`;
}

/** Checks that the plan and the index have the same runes in each input. */
function heldFault({ inputs }: WithdrawalPlan, held: readonly (readonly RuneAmount[])[]): string | null {
  if (held.length !== inputs.length)
    return `it has ${inputs.length} inputs, and the contents of ${held.length} are known`;
  for (const [place, { runes }] of inputs.entries()) {
    const found = held[place] ?? [];
    const difference = differenceOf(sumsOf(runes), sumsOf(found));
    if (difference !== null) return `input ${place} holds other units of rune ${difference} than it names`;
  }
  return null;
}

function flowFault({ outputs }: WithdrawalPlan, held: readonly (readonly RuneAmount[])[]): string | null {
  const all = held.flat().filter(({ amount }) => amount !== 0);
  const flow = runeFlow(outputs, all);
  const fault = stoneFault(flow.artifact);
  if (fault !== null) return fault;
  if (flow.burned.length > 0) return 'it burns runes';
  if (all.length > 0 && (flow.rest !== 0 || outputs[0]?.kind !== 'change'))
    return 'runes that no edict moves would not go to its change';
  return givenFault(outputs, flow);
}

function stoneFault(artifact: Artifact | null): string | null {
  if (artifact === null) return null;
  if (artifact.kind === 'cenotaph') return `its runestone is malformed (${artifact.flaw})`;
  if (artifact.etching !== null || artifact.mint !== null) return 'its runestone etches or mints';
  const isAll = artifact.edicts.some(({ amount }) => amount === 0);
  return isAll ? 'an edict of 0 would move all of a rune' : null;
}

function givenFault(outputs: WithdrawalPlan['outputs'], { given }: RuneFlow): string | null {
  const byOutput = Map.groupBy(given, ({ output }) => output);
  for (const [place, { runes }] of outputs.entries()) {
    const difference = differenceOf(sumsOf(runes), sumsOf(byOutput.get(place) ?? []));
    if (difference !== null)
      return `output ${place} would get other units of rune ${difference} than it names`;
  }
  return null;
}

function sumsOf(runes: readonly RuneAmount[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { id, amount } of runes) {
    const name = formatRuneId(id);
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
  }
  return sums;
}

/** The first rune whose sums differ, or null if all sums are equal. */
function differenceOf(some: ReadonlyMap<string, bigint>, others: ReadonlyMap<string, bigint>): string | null {
  for (const name of [...some.keys(), ...others.keys()])
    if ((some.get(name) ?? 0n) !== (others.get(name) ?? 0n)) return name;
  return null;
}
