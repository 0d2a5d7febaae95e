import assert from 'node:assert/strict';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { type CoinFrame, chooseCoins } from '#psbts/planning/choose-coins.ts';
import { type PsbtInput, type PsbtOutput, type PsbtPlan, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { requireRunesAt } from './rune-output.ts';

/** A burn of one sat with its inscription, as ord burns. */
export interface InscriptionBurn {
  readonly utxo: PsbtInput;
  /** Sats of the output before the inscribed one. */
  readonly offset: bigint;
  readonly runes: readonly RuneAmount[];
  readonly signers: Signers;
  /** Begins with OP_RETURN. */
  readonly script: Uint8Array;
  /** Sats for 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

const burnedSats = 1n;

/** The coin that gives a padded piece its first sats. */
interface Padding {
  readonly value: bigint;
  /** Returns to the payment address before the piece; 0: the piece has all of it. */
  readonly change: bigint;
}

/** The form of a burn, which depends on where the inscribed sat is. */
export interface BurnForm {
  /** Sats that a coin before the output must add to those before the inscribed sat; 0: there is no such coin. */
  readonly padding: bigint;
  /** Whether runes need a runestone, because the first output is the change of that coin. */
  readonly needsRunestone: boolean;
}

export function formOf({ offset, runes, signers: { ordinals, payment } }: InscriptionBurn): BurnForm {
  const dust = BigInt(dustOf(ordinals.script));
  const padding = offset > 0n && offset < dust ? dust - offset : 0n;
  const isOther = Buffer.compare(ordinals.script, payment.script) !== 0;
  return { padding, needsRunestone: padding > 0n && runes.length > 0 && isOther };
}

/**
 * Coins are chosen for this frame. If a coin goes before the output, the frame has an input for it that returns dust;
 * that coin is the one after the chosen ones.
 */
export function inscriptionBurnFrame(burn: InscriptionBurn): CoinFrame {
  const { padding } = formOf(burn);
  const change = BigInt(dustOf(burn.signers.payment.script));
  return padding === 0n ? frameOf(burn, null) : frameOf(burn, { value: padding + change, change });
}

/**
 * The transaction of a burn. Only the inscribed sat is burned. All other sats of its output return to the ordinals
 * address, in outputs before and after it that are padded to dust with sats of coins; the fee is the end of the last
 * coin.
 *
 * @param coins chosen for `inscriptionBurnFrame`
 * @param paddingCoin the coin before the output, with at least `padding` sats; null: not needed
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

/** Change of a coin before the piece that it pads: 0 if it is too little for an output. */
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

/** Outputs before the change. */
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
    // runes need an output of the ordinals address
    ...(isLost ? [returned(dust)] : []),
  ];
}

/**
 * The burned sat, and the runestone that moves runes to an output. Without metadata the runestone burns the sat itself,
 * because nodes may relay only one OP_RETURN.
 *
 * @param runesTo null: runes need no runestone
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
