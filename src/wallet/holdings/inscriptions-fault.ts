import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type {
  PlannedInscription,
  PlannedOutput,
  PlannedOutputKind,
  PlannedReveal,
  TransactionPlan,
} from '#kernel/contracts/transaction-plan.ts';
import { SatFlow, startsOf } from './sat-flow.ts';

/**
 * Kinds of outputs that may receive an inscription. There, the inscription reaches a customer, will be sent to a
 * customer later, or is burned.
 */
const ofInscriptions: ReadonlySet<PlannedOutputKind> = new Set([
  'postage',
  'parent',
  'refund',
  'commit',
  'burn',
  'aside',
]);
/** Kinds of outputs that may receive an inscription that this transaction reveals. */
const ofReveals: ReadonlySet<PlannedOutputKind> = new Set(['postage', 'burn']);

/**
 * Finds a fault in how a plan moves inscriptions, in words. The inputs hold other inscriptions than the plan names, or
 * the sats of inscriptions move to other outputs than planned. Sats move first in, first out, in the order of inputs
 * and outputs. Returns null if there is no fault.
 *
 * @param held contents by input
 */
export function inscriptionsFault(plan: TransactionPlan, held: readonly Holdings[]): string | null {
  const { inscriptions: named = [], reveals = [] } = plan;
  const isPlain = held.every(({ inscriptions }) => inscriptions?.length === 0);
  if (isPlain && named.length === 0 && reveals.length === 0) return null;
  const flow = new SatFlow(plan.outputs);
  return (
    namesFault(plan, held) ??
    firstOf(named, (each) =>
      landingFault(`inscription ${each.id}`, each, plan.outputs, flow, ofInscriptions),
    ) ??
    firstOf(named, (each) => burnFault(each, plan)) ??
    firstOf(reveals, (each, index) =>
      landingFault(`its inscription ${index}`, each, plan.outputs, flow, ofReveals),
    ) ??
    unknownFault(plan, held, flow)
  );
}

function firstOf<T>(all: readonly T[], faultOf: (each: T, index: number) => string | null): string | null {
  for (const [index, each] of all.entries()) {
    const fault = faultOf(each, index);
    if (fault !== null) return fault;
  }
  return null;
}

/** Checks that the plan names each inscription of its inputs with its position, and no other inscription. */
function namesFault(
  { inputs, inscriptions: named = [] }: TransactionPlan,
  held: readonly Holdings[],
): string | null {
  const found = placesOf(inputs, held);
  if (typeof found === 'string') return found;
  for (const { id, at } of named) {
    const known = found.get(id);
    if (known === undefined)
      return `it names inscription ${id}, but its inputs are not known to hold this inscription`;
    if (known !== at)
      return `it names inscription ${id} at sat ${at} of its inputs, but the inscription is at ${known}`;
    found.delete(id);
  }
  const [unnamed] = found.keys();
  return unnamed === undefined
    ? null
    : `its inputs hold inscription ${unnamed}, but it does not name this inscription`;
}

/**
 * The position of each known inscription, by id: the number of sats before it in all inputs. Returns a text if there is
 * a fault.
 */
function placesOf(
  inputs: TransactionPlan['inputs'],
  held: readonly Holdings[],
): Map<string, bigint> | string {
  const starts = startsOf(inputs);
  const found = new Map<string, bigint>();
  for (const [input, { value }] of inputs.entries()) {
    for (const { id, offset } of held[input]?.inscriptions ?? []) {
      if (offset < 0n || offset >= value) return `inscription ${id} is beyond the sats of input ${input}`;
      found.set(id, (starts[input] ?? 0n) + offset);
    }
  }
  return found;
}

function landingFault(
  what: string,
  { at, output }: PlannedReveal,
  outputs: readonly PlannedOutput[],
  flow: SatFlow,
  allowed: ReadonlySet<PlannedOutputKind>,
): string | null {
  const place = flow.placeOf(at);
  if (place === null) return `${what} would become a part of the fee`;
  if (place.output !== output) return `${what} would go to output ${place.output} and not to ${output}`;
  const kind = outputs[output]?.kind;
  return kind !== undefined && allowed.has(kind)
    ? null
    : `${what} would go to output ${output}, of the kind ${kind ?? 'none'}`;
}

/** Checks that a plan burns only inscriptions that an order put on an anchor for this purpose. */
function burnFault(
  { id, at, output }: PlannedInscription,
  { inputs, outputs }: TransactionPlan,
): string | null {
  if (outputs[output]?.kind !== 'burn') return null;
  const input = inputs[startsOf(inputs).findLastIndex((start) => start <= at)];
  return input !== undefined && scriptType(input.script) === 'p2a'
    ? null
    : `inscription ${id} would be burned, but did not come from an anchor`;
}

/**
 * Checks inputs that may hold unknown inscriptions. They may pay only outputs that may receive an inscription. The fee
 * must come from the largest inputs, which are the last ones, because inscriptions are usually in small outputs.
 */
function unknownFault(
  { inputs, outputs }: TransactionPlan,
  held: readonly Holdings[],
  flow: SatFlow,
): string | null {
  const starts = startsOf(inputs);
  let largest = 0n;
  for (const [place, { value }] of inputs.entries()) {
    const start = starts[place] ?? 0n;
    const isUnknown = held[place]?.inscriptions === null;
    if (isUnknown && value < largest && start + value > flow.paid)
      return `input ${place} may hold inscriptions, and its sats would become a part of the fee before the sats of larger inputs`;
    if (value > largest) largest = value;
    const wrong = isUnknown
      ? flow.outputsIn(start, start + value).find((to) => !mayGet(outputs[to]))
      : undefined;
    if (wrong !== undefined)
      return `input ${place} may hold inscriptions, and goes to output ${wrong}, of the kind ${outputs[wrong]?.kind ?? 'none'}`;
  }
  return null;
}

const mayGet = (output: PlannedOutput | undefined): boolean =>
  output !== undefined && ofInscriptions.has(output.kind);
