import assert from 'node:assert/strict';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { type CoinFrame, chooseCoins } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { requireRunesAt } from './rune-output.ts';

/** A burn of one sat with its inscription, in the form that ord uses. */
export interface InscriptionBurn {
  readonly utxo: PsbtInput;
  /** Number of sats of the output before the inscribed sat. */
  readonly offset: bigint;
  readonly runes: readonly RuneAmount[];
  readonly signers: Signers;
  /** Begins with OP_RETURN. */
  readonly script: Uint8Array;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

const burnedSats = 1n;

/** A coin whose sats enlarge the output before the inscribed sat, which would otherwise be below dust. */
interface Padding {
  readonly value: bigint;
  /**
   * Sats of the coin that return to the payment address in a separate output. 0 if the padded output gets the entire
   * coin.
   */
  readonly change: bigint;
}

/** The form of a burn, which depends on the position of the inscribed sat. */
export interface BurnForm {
  /**
   * Number of sats that a coin must add in front of the output, because the sats before the inscribed sat are fewer
   * than dust. 0 if no coin is needed.
   */
  readonly padding: bigint;
  /** Whether runes need a runestone. They need one if the first output is the change of the coin in front. */
  readonly needsRunestone: boolean;
}

export function formOf({ offset, runes, signers: { ordinals, payment } }: InscriptionBurn): BurnForm {
  const dust = BigInt(dustOf(ordinals.script));
  const padding = offset > 0n && offset < dust ? dust - offset : 0n;
  const isOther = Buffer.compare(ordinals.script, payment.script) !== 0;
  return { padding, needsRunestone: padding > 0n && runes.length > 0 && isOther };
}

/**
 * The frame for selecting coins. If a coin must go in front of the output, the frame has an input for this coin and an
 * output that returns dust. The caller uses the coin after the selected ones for this input.
 */
export function inscriptionBurnFrame(burn: InscriptionBurn): CoinFrame {
  const { padding } = formOf(burn);
  const change = BigInt(dustOf(burn.signers.payment.script));
  return padding === 0n ? frameOf(burn, null) : frameOf(burn, { value: padding + change, change });
}

/**
 * Plans the transaction of a burn. Only the inscribed sat is burned. All other sats of the output return to the
 * ordinals address, in outputs before and after the burned sat. Sats of coins pad these outputs to dust. The fee is
 * paid from the end of the last coin.
 *
 * @param coins coins that were selected for `inscriptionBurnFrame`
 * @param paddingCoin coin in front of the output, with at least `padding` sats. Null if it is not needed.
 */
export function planInscriptionBurn(
  burn: InscriptionBurn,
  coins: readonly PsbtInput[],
  paddingCoin: PsbtInput | null,
): PsbtPlan {
  const { utxo, signers, runes } = burn;
  const padding = paddingCoin === null ? null : paddingOf(burn, paddingCoin);
  const frame = frameOf(burn, padding);
  const choice = chooseCoins(coins, frame, true);
  assert(choice.kind === 'chosen', 'the coins were chosen for a transaction of at least this size');
  const rest = choice.change;
  const plan = psbtPlan({
    inputs: [...(paddingCoin === null ? [] : [paddingCoin]), utxo, ...choice.coins],
    outputs: [...outputsOf(burn, padding), ...(rest === 0n ? [] : [changeOf(signers, rest)])],
  });
  requireRunesAt(plan, signers.ordinals, runes);
  return plan;
}

/** Computes the change of the coin that pads an output. The change is 0 if it would be too small for an output. */
function paddingOf(burn: InscriptionBurn, { value }: PsbtInput): Padding {
  const left = value - formOf(burn).padding;
  assert(left >= 0n, 'the coin has the sats that the piece lacks');
  return { value, change: left >= BigInt(dustOf(burn.signers.payment.script)) ? left : 0n };
}

function frameOf(burn: InscriptionBurn, padding: Padding | null): CoinFrame {
  const { utxo, signers, feeRate } = burn;
  const coin = padding === null ? [] : [{ value: padding.value, signer: signers.payment }];
  return { inputs: [...coin, utxo], outputs: outputsOf(burn, padding), payer: signers.payment, feeRate };
}

/** All outputs except the change at the end. */
function outputsOf(burn: InscriptionBurn, padding: Padding | null): PsbtOutput[] {
  const { utxo, offset, runes, signers, script } = burn;
  const dust = BigInt(dustOf(signers.ordinals.script));
  const returned = (value: bigint): PsbtOutput => ({
    script: signers.ordinals.script,
    value: value < dust ? dust : value,
    purpose: 'ordinals',
  });
  const before = offset + (padding === null ? 0n : padding.value - padding.change);
  const after = utxo.value - offset - burnedSats;
  const first = [
    ...(padding === null || padding.change === 0n ? [] : [changeOf(signers, padding.change)]),
    ...(offset === 0n ? [] : [returned(before)]),
  ];
  const last = after === 0n ? [] : [returned(after)];
  const isLost = runes.length > 0 && offset === 0n && after === 0n;
  return [
    ...first,
    ...burnOutputs(script, formOf(burn).needsRunestone ? first.length - 1 : null),
    ...last,
    // without this output, the runes would have no output at the ordinals address
    ...(isLost ? [returned(dust)] : []),
  ];
}

/**
 * The output that burns the sat, and the runestone that moves runes to an output. Without metadata the runestone itself
 * burns the sat, because nodes may relay only one OP_RETURN.
 *
 * @param runesTo index of the output that receives the runes, or null if no runestone is needed
 */
function burnOutputs(script: Uint8Array, runesTo: number | null): PsbtOutput[] {
  const burned = { script, value: burnedSats, purpose: 'burn' } as const;
  if (runesTo === null) return [burned];
  const runestone = encipher(routeRunestone({ edicts: [], pointer: runesTo }));
  if (script.length === 1) return [{ ...burned, script: runestone }];
  return [burned, { script: runestone, value: 0n, purpose: 'burn' }];
}

const changeOf = ({ payment }: Signers, value: bigint): PsbtOutput => ({
  script: payment.script,
  value,
  purpose: 'change',
});
