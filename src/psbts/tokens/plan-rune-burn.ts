import assert from 'node:assert/strict';
import { atLeastDust } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { ChosenCoins, CoinFrame } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';

/** A burn of units of one rune. */
export interface RuneBurn {
  readonly signers: Signers;
  /** Outputs of the ordinals address with the rune. */
  readonly inputs: readonly PsbtInput[];
  /** All runes in these outputs. */
  readonly runes: readonly RuneAmount[];
  readonly id: RuneId;
  /** Base units to burn. Must be above 0, because an edict of 0 would burn all units. */
  readonly amount: bigint;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** Index of the output that gets all contents that are not burned. `burned` is the index of the runestone. */
const returned = 0;
const burned = 1;

/**
 * Outputs before the change. The edict moves the units to the runestone's own output. No one can spend this output, so
 * the units are burned without a second OP_RETURN output. All sats of the inputs return, and the pointer returns all
 * other units with them.
 */
function outputsOf({ signers: { ordinals }, inputs, id, amount }: RuneBurn): PsbtOutput[] {
  const edicts = [{ id, amount: asU128(amount), output: burned }];
  const runestone = encipher(routeRunestone({ edicts, pointer: returned }));
  return [
    {
      script: ordinals.script,
      value: atLeastDust(valueOf(inputs), ordinals.script),
      purpose: 'ordinals',
    },
    { script: runestone, value: 0n, purpose: 'burn' },
  ];
}

/** The frame for selecting coins of the payment address. */
export const runeBurnFrame = (burn: RuneBurn): CoinFrame => ({
  inputs: burn.inputs,
  outputs: outputsOf(burn),
  payer: burn.signers.payment,
  feeRate: burn.feeRate,
});

/**
 * Plans the transaction of a burn. Asserts that it burns exactly the requested units according to the protocol rules.
 * Pure.
 */
export function planRuneBurn(burn: RuneBurn, chosen: ChosenCoins<PsbtInput>): PsbtPlan {
  assert(burn.amount > 0n, 'a burn has units');
  const { script } = burn.signers.payment;
  const change: PsbtOutput[] =
    chosen.change === 0n ? [] : [{ script, value: chosen.change, purpose: 'change' }];
  const plan = psbtPlan({
    inputs: [...burn.inputs, ...chosen.coins],
    outputs: [...outputsOf(burn), ...change],
  });
  assert(plan.fee === chosen.fee, 'a plan pays the fee that its coins were chosen for');
  requireBurn(plan, burn);
  return plan;
}

function requireBurn({ outputs }: PsbtPlan, { runes, id, amount }: RuneBurn): void {
  const flow = runeFlow(outputs, runes);
  assert(
    flow.given.every(({ output }) => output === returned),
    'all units that a burn leaves return to the ordinals address',
  );
  const [only, ...others] = flow.burned;
  assert(
    only !== undefined && others.length === 0 && formatRuneId(only.id) === formatRuneId(id),
    'a burn burns one rune',
  );
  assert(BigInt(only.amount) === amount, 'a burn burns the units that were asked for');
}
