import assert from 'node:assert/strict';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';

/** Asserts that all runes that a plan spends go to outputs of an address, according to the protocol rules. */
export function requireRunesAt(
  { outputs }: Pick<PsbtPlan, 'outputs'>,
  { script }: Pick<Signer, 'script'>,
  runes: readonly RuneAmount[],
): void {
  const { given, burned } = runeFlow(outputs, runes);
  const isThere = given.every(
    ({ output }) => Buffer.compare(outputs[output]?.script ?? noScript, script) === 0,
  );
  assert(burned.length === 0 && isThere, 'the runes of a burned output return to the ordinals address');
}

const noScript = new Uint8Array(0);
