import type { Asker } from '#kernel/contracts/asker.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import type { BuiltPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { feeRateFor, feeRateWarnings, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { whyOwn } from '#psbts/coins/why-own.ts';
import type { PsbtRefusal } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import type { TokenAmount } from '#tokenpay/token-amount.ts';
import { buildTokenPsbt } from './build-token-psbt.ts';
import { planRuneBurn, type RuneBurn, runeBurnFrame } from './plan-rune-burn.ts';
import { runeIdOf, runeInputs } from './rune-inputs.ts';

export interface RuneBurnRequest {
  readonly units: TokenAmount;
  readonly signers: Signers;
  /** Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate. */
  readonly feeRate: bigint | null;
}

/**
 * Makes a PSBT that burns units of a rune from the ordinals address. All other contents of the inputs return. Refuses
 * with a reason if this is not possible. Throws `coins_unproven`, and the codes of the services that it uses.
 */
export async function burnRune(
  parts: CoinParts,
  { units: { rune: wanted, amount }, signers, feeRate: asked }: RuneBurnRequest,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const standing = await nodeFeesOf(parts.node).standing();
  const feeRate = feeRateFor(asked, standing);
  if (typeof feeRate !== 'bigint') return feeRate;
  const wrong = await whyOwn(parts, signers);
  if (wrong !== null) return wrong;
  const { rune: name } = wanted;
  const found = await runeInputs(
    parts,
    signers.ordinals,
    { rune: name, etching: null, amount, taker: 'the burn' },
    asker,
  );
  if (found.kind === 'refused') return found;
  const { inputs, runes, rune } = found;
  const burn: RuneBurn = { signers, inputs, runes, id: runeIdOf(rune), amount, feeRate };
  const shown = `${shownAmount(trustedU128(amount), rune.divisibility)} ${formatSpacedRune(rune)}`;
  return buildTokenPsbt(
    parts,
    {
      signers,
      inputs,
      frame: runeBurnFrame(burn),
      plan: (chosen) => planRuneBurn(burn, chosen),
      feeRate,
      warnings: [
        `The transaction burns ${shown}, which cannot be undone.`,
        ...feeRateWarnings(feeRate, standing),
      ],
    },
    asker,
  );
}
