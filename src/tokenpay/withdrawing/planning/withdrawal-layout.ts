import { feeAt, feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, frameWeight, outputWeight, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { PlannedRunes } from '#kernel/contracts/transaction-plan.ts';
import { parseRuneId } from '#kernel/runes/rune-id.ts';
import type { Edict } from '#kernel/runes/runestone/artifact.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { type AssetName, amountsIn, assetName, hasRunes, satsName } from './coin-stock.ts';
import type {
  PricedWithdrawal,
  ReplacedFee,
  WithdrawalBatch,
  WithdrawalCoin,
  WithdrawalOutput,
  WithdrawalPlan,
} from './withdrawal-plan.ts';

/** The inputs and withdrawals that were chosen for a transaction. */
export interface ChosenParts {
  readonly inputs: readonly WithdrawalCoin[];
  /** Withdrawals in the order of their requests. */
  readonly withdrawals: readonly PricedWithdrawal[];
}

/** The parts of a batch that determine the fee and the change. */
export type LayoutRules = Pick<WithdrawalBatch, 'feeRate' | 'replaced' | 'change'>;

/** Index of the output that receives all units without an edict. */
const runeChange = 0;

/**
 * The fee for a weight. Nodes require a higher fee for a replacement than for the replaced transaction (BIP 125, rules
 * 3, 4 and 6).
 */
export function feeFor(weight: number, feeRate: bigint, replaced: ReplacedFee | null): bigint {
  const fee = feeOf(weight, feeRate);
  if (replaced === null) return fee;
  const size = virtualSize(weight);
  const more = replaced.fee + feeAt(size, replaced.incrementalFeeRate);
  const higher = (replaced.fee * BigInt(size)) / BigInt(replaced.virtualBytes) + 1n;
  return [fee, more, higher].reduce((most, each) => (each > most ? each : most));
}

/** Edicts for withdrawals of runes. The outputs of these withdrawals come directly after the changes. */
export const edictsOf = (withdrawals: readonly PricedWithdrawal[], changes: number): Edict[] =>
  ofRunes(withdrawals).map(({ rune, units }, place) => ({
    id: rune,
    amount: asU128(units),
    output: changes + place,
  }));

/** Makes the runestone with these edicts. All other units go to the change for runes. */
export const stoneScript = (edicts: readonly Edict[]): Uint8Array =>
  encipher(routeRunestone({ edicts, pointer: runeChange }));

type RuneWithdrawal = PricedWithdrawal & { readonly rune: NonNullable<PricedWithdrawal['rune']> };

const ofRunes = (withdrawals: readonly PricedWithdrawal[]): RuneWithdrawal[] =>
  withdrawals.filter((each): each is RuneWithdrawal => each.rune !== null);

/**
 * Makes the transaction from chosen parts. If the inputs have runes, the first output is always a change, and the
 * runestone's pointer points to it. Units without an edict go to this output, even if no one reads the runestone.
 * Returns null if the sats are not enough. Pure.
 */
export function layOut(parts: ChosenParts, rules: LayoutRules): WithdrawalPlan | null {
  return parts.inputs.some(hasRunes) ? laidWithRunes(parts, rules) : laidWithoutRunes(parts, rules);
}

/**
 * Puts remaining units into one change. Remaining sats go into a second change if they are enough for that change and
 * for the later input that spends it.
 */
function laidWithRunes(parts: ChosenParts, rules: LayoutRules): WithdrawalPlan | null {
  const dust = changeDust(rules);
  const left = unitsLeft(parts);
  if (left.length > 0) {
    const both = sheetOf(parts, rules, 2);
    const sats = both.left - dust;
    if (sats >= dust && sats > feeOf(keyInputWeightOf(rules.change), rules.feeRate))
      return planOf(parts, rules, { ...both, changes: [dust, sats] });
  }
  const one = sheetOf(parts, rules, 1);
  return one.left < dust ? null : planOf(parts, rules, { ...one, changes: [one.left] });
}

function laidWithoutRunes(parts: ChosenParts, rules: LayoutRules): WithdrawalPlan | null {
  const one = sheetOf(parts, rules, 1);
  if (one.left >= changeDust(rules)) return planOf(parts, rules, { ...one, changes: [one.left] });
  const bare = sheetOf(parts, rules, 0);
  if (bare.left < 0n || parts.withdrawals.length === 0) return null;
  return planOf(parts, rules, { ...bare, fee: bare.fee + bare.left, overpaid: bare.left, changes: [] });
}

const changeDust = ({ change }: LayoutRules): bigint => BigInt(dustOf(change));

/** A transaction with a certain number of changes: its weight, its fee, and the sats that the changes share. */
interface Sheet {
  readonly weight: number;
  readonly fee: bigint;
  readonly overpaid: bigint;
  readonly stone: Uint8Array | null;
  readonly edicts: readonly Edict[];
  readonly left: bigint;
}

function sheetOf(
  { inputs, withdrawals }: ChosenParts,
  { change, feeRate, replaced }: LayoutRules,
  changes: number,
): Sheet {
  const edicts = edictsOf(withdrawals, changes);
  const stone = edicts.length === 0 ? null : stoneScript(edicts);
  const scripts = withdrawals.map(({ script }) => script);
  if (stone !== null) scripts.push(stone);
  const paid = scripts.reduce((sum, script) => sum + outputWeight(script), changes * outputWeight(change));
  const spent = inputs.reduce((sum, { script }) => sum + keyInputWeightOf(script), 0);
  const weight = frameWeight(inputs.length, changes + scripts.length) + paid + spent;
  const fee = feeFor(weight, feeRate, replaced);
  const left = satsOf(inputs) - withdrawals.reduce((sum, { sats }) => sum + sats, 0n) - fee;
  return { weight, fee, overpaid: 0n, stone, edicts, left };
}

export const satsOf = (coins: readonly WithdrawalCoin[]): bigint =>
  coins.reduce((sum, { value }) => sum + value, 0n);

/** Units of the inputs that no withdrawal gets, by rune. The inputs must have enough units for the withdrawals. */
function unitsLeft({ inputs, withdrawals }: ChosenParts): RuneAmount[] {
  const left = new Map<AssetName, bigint>();
  for (const coin of inputs)
    for (const [asset, amount] of amountsIn(coin)) left.set(asset, (left.get(asset) ?? 0n) + amount);
  for (const { rune, units } of ofRunes(withdrawals)) {
    const asset = assetName(rune);
    left.set(asset, (left.get(asset) ?? 0n) - units);
  }
  left.delete(satsName);
  return [...left].flatMap(([asset, amount]) => {
    const id = parseRuneId(asset);
    return id === null || amount === 0n ? [] : [{ id, amount: asU128(amount) }];
  });
}

function planOf(
  parts: ChosenParts,
  { change }: LayoutRules,
  { changes, stone, edicts, weight, fee, overpaid }: Sheet & { readonly changes: readonly bigint[] },
): WithdrawalPlan {
  const { inputs, withdrawals } = parts;
  const left = inputs.some(hasRunes) ? unitsLeft(parts) : [];
  const kept = changes.map(
    (value, place): WithdrawalOutput => ({
      kind: 'change',
      script: change,
      value,
      withdrawal: null,
      runes: place === runeChange ? left : [],
    }),
  );
  const outputs = [...kept, ...ofRunes(withdrawals).map(paidTo), ...ofSats(withdrawals).map(paidTo)];
  if (stone !== null) outputs.push({ kind: 'burn', script: stone, value: 0n, withdrawal: null, runes: [] });
  return { inputs, outputs, fee, overpaid, weight, runes: runesOf(inputs, outputs, edicts) };
}

const ofSats = (withdrawals: readonly PricedWithdrawal[]): PricedWithdrawal[] =>
  withdrawals.filter(({ rune }) => rune === null);

const paidTo = ({ id, rune, units, sats, script }: PricedWithdrawal): WithdrawalOutput => ({
  kind: 'withdrawal',
  script,
  value: sats,
  withdrawal: id,
  runes: rune === null ? [] : [{ id: rune, amount: asU128(units) }],
});

function runesOf(
  inputs: readonly WithdrawalCoin[],
  outputs: readonly WithdrawalOutput[],
  edicts: readonly Edict[],
): PlannedRunes | null {
  if (!inputs.some(hasRunes)) return null;
  return {
    held: inputs.flatMap(({ runes }, input) => runes.map((rune) => ({ ...rune, input }))),
    given: outputs.flatMap(({ runes }, output) => runes.map((rune) => ({ ...rune, output }))),
    burned: [],
    rest: runeChange,
    runestone: edicts.length === 0 ? null : routeRunestone({ edicts, pointer: runeChange }),
  };
}
