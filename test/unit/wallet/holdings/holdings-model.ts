import type { Holdings, RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedOutputKind, PlannedRunes, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { Purse } from '#test/support/chain/runes/rune-model.ts';
import { type ModelRunestone, modelOf } from '#test/support/chain/runes/runestone-model.ts';

/*
 * Follows inscriptions and runes through a plan, sat by sat and rune by rune. It uses the second reader of runestones
 * and the second implementation of their rules, with which the indexer is tested.
 */

export const anchorScript = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
export const runeOf = (tx: number, amount: number | bigint): RuneAmount => ({
  id: { block: asU128(840_000), tx },
  amount: asU128(amount),
});

const times = <T>(value: bigint, each: T): T[] => Array.from({ length: Number(value) }, () => each);

/** For each sat of the inputs, the index of its output, or `null` if it becomes the fee. */
export function satsOf({ inputs, outputs }: TransactionPlan): (number | null)[] {
  const slots = outputs.flatMap(({ value }, place) => times(value, place));
  return inputs.flatMap(({ value }) => times(value, null)).map((_, at) => slots[at] ?? null);
}

export function inscriptionsOf(
  { inputs }: TransactionPlan,
  held: readonly Holdings[],
): { id: string; at: bigint }[] {
  let start = 0n;
  return held.flatMap(({ inscriptions }, place) => {
    const found = (inscriptions ?? []).map(({ id, offset }) => ({ id, at: start + offset }));
    start += inputs[place]!.value;
    return found;
  });
}

export interface ModelFlow {
  readonly stone: ModelRunestone | null;
  readonly given: readonly (RuneAmount & { readonly output: number })[];
  readonly burned: readonly RuneAmount[];
  readonly rest: number | null;
}

/** Destinations of units: those that an edict moves, and the others. */
export function runesOf({ outputs }: Pick<TransactionPlan, 'outputs'>, held: readonly Holdings[]): ModelFlow {
  const scripts = outputs.map(({ script }) => script);
  const purse = new Purse(scripts);
  for (const { id, amount } of held.flatMap(({ runes }) => runes ?? []))
    purse.add(formatRuneId(id), BigInt(amount));
  const script = scripts.find((each) => each[0] === 0x6a && each[1] === 0x5d);
  const stone = script === undefined ? null : modelOf(script, scripts.length);
  const rest = stone?.flaw == null ? obeyed(stone, purse, scripts.length) : undefined;
  if (rest !== undefined) for (const id of purse.loose.keys()) purse.move(id, 2n ** 128n, Number(rest));
  const isOpen = (place: number): boolean => purse.open.includes(place);
  return {
    stone,
    given: purse.given.flatMap((all, place) =>
      isOpen(place) ? amounts(all).map((rune) => ({ ...rune, output: place })) : [],
    ),
    burned: [
      ...purse.given.flatMap((all, place) => (isOpen(place) ? [] : amounts(all))),
      ...amounts(purse.loose),
    ],
    rest: rest !== undefined && isOpen(Number(rest)) ? Number(rest) : null,
  };
}

/** Executes the edicts of a runestone. Returns the output that gets the remaining units. */
function obeyed(stone: ModelRunestone | null, purse: Purse, outputs: number): bigint | number | undefined {
  for (const { id, amount, output } of stone?.edicts ?? []) {
    const all = purse.loose.get(id);
    if (all === undefined) continue;
    if (output < BigInt(outputs)) purse.move(id, amount === 0n ? all : amount, Number(output));
    else purse.split(id, amount, all);
  }
  return stone?.pointer ?? purse.open[0];
}

const amounts = (all: ReadonlyMap<string, bigint>): RuneAmount[] =>
  [...all]
    .filter(([, amount]) => amount > 0n)
    .map(([id, amount]) => runeOf(Number(id.split(':')[1]), amount));

/** Sums of units by rune and output, as a text that tests can compare. */
export function unitsText(all: readonly (RuneAmount & { readonly at?: number })[]): string {
  const sums = new Map<string, bigint>();
  for (const { id, amount, at = 0 } of all) {
    const key = `${formatRuneId(id)}/${at}`;
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
  }
  return [...sums]
    .map(([key, sum]) => `${key}=${sum}`)
    .toSorted()
    .join();
}
export const givenText = (all: ModelFlow['given']): string =>
  unitsText(all.map((each) => ({ ...each, at: each.output })));

/** Whether a plan is right, so that it may be signed. */
export const isRight = (plan: TransactionPlan, held: readonly Holdings[]): boolean =>
  areNamed(plan, held) && doLand(plan) && areUnknownKept(plan, held) && areRunesRight(plan, held);

function areNamed(plan: TransactionPlan, held: readonly Holdings[]): boolean {
  const text = (all: readonly { id: string; at: bigint }[]): string =>
    all
      .map(({ id, at }) => `${id}@${at}`)
      .toSorted()
      .join();
  return text(plan.inscriptions ?? []) === text(inscriptionsOf(plan, held));
}

const mayGet = ({ outputs }: TransactionPlan, place: number | null): boolean =>
  place !== null && ['postage', 'parent', 'refund', 'commit', 'burn'].includes(outputs[place]!.kind);

/** Whether each inscription reaches its named output. Only inscriptions in anchors may be burned. */
function doLand(plan: TransactionPlan): boolean {
  const sats = satsOf(plan);
  const owners = plan.inputs.flatMap(({ value, script }) => times(value, script));
  return (plan.inscriptions ?? []).every(({ at, output }) => {
    const place = sats[Number(at)] ?? null;
    const isBurn = place !== null && plan.outputs[place]!.kind === 'burn';
    return place === output && mayGet(plan, place) && (!isBurn || owners[Number(at)] === anchorScript);
  });
}

/**
 * Whether all sats of inputs with unknown inscriptions reach outputs that are meant for them, or are the fee of the
 * largest input.
 */
function areUnknownKept(plan: TransactionPlan, held: readonly Holdings[]): boolean {
  const sats = satsOf(plan);
  let at = 0;
  let largest = 0n;
  return plan.inputs.every(({ value }, place) => {
    const own = sats.slice(at, at + Number(value));
    at += Number(value);
    const isSmaller = value < largest;
    if (value > largest) largest = value;
    return (
      held[place]!.inscriptions !== null || own.every((to) => (to === null ? !isSmaller : mayGet(plan, to)))
    );
  });
}

function areRunesRight(plan: TransactionPlan, held: readonly Holdings[]): boolean {
  const flow = runesOf(plan, held);
  const isPlain = held.every(({ runes }) => runes?.length === 0);
  if (plan.runes === undefined && isPlain && flow.stone === null) return true;
  const claimed = plan.runes ?? { held: [], given: [], burned: [], rest: 0, runestone: null };
  const stones = plan.outputs.filter(({ script }) => script[0] === 0x6a && script[1] === 0x5d);
  return stones.length <= 1 && readsBack(claimed, flow) && isFlowNamed(plan, claimed, flow, held);
}

function readsBack({ runestone }: PlannedRunes, { stone }: ModelFlow): boolean {
  if (stone === null || runestone === null) return stone === null && runestone === null;
  const wanted = runestone.edicts
    .map(({ id, amount, output }) => ({ order: id.tx, text: `${id.tx} ${amount} ${output}` }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ text }) => text);
  const read = stone.edicts.map(({ id, amount, output }) => `${id.split(':')[1]} ${amount} ${output}`);
  const pointer = runestone.pointer === null ? null : BigInt(runestone.pointer);
  const areMoves = stone.edicts.every(({ amount }) => amount > 0n);
  return stone.flaw === null && stone.pointer === pointer && read.join() === wanted.join() && areMoves;
}

function isFlowNamed(
  { outputs }: TransactionPlan,
  claimed: PlannedRunes,
  { stone, given, burned, rest }: ModelFlow,
  held: readonly Holdings[],
): boolean {
  const brought = held.flatMap((each, at) => (each.runes ?? []).map((rune) => ({ ...rune, at })));
  const isLed = stone !== null && stone.edicts.length > 0;
  const kindOf = (place: number): PlannedOutputKind => outputs[place]!.kind;
  if (rest === null || rest !== claimed.rest || kindOf(rest) === 'inventory') return false;
  if (isLed && held.some(({ runes }) => runes === null)) return false;
  return (
    unitsText(claimed.held.map((each) => ({ ...each, at: each.input }))) === unitsText(brought) &&
    givenText(claimed.given) === givenText(given) &&
    unitsText(claimed.burned) === unitsText(burned) &&
    given.every(({ output }) => !['anchor', 'inventory'].includes(kindOf(output)))
  );
}
