import { listingSignature, pairSignature } from './fitting-signatures.ts';
import type { Coin, MovingInput } from './moving-transaction.ts';

/**
 * Whether a transaction can have sold the inscriptions of its inputs. False for most transfers, which then need no
 * further checks (find-payment.ts). A payment needs one of these three:
 *
 * - an inscription in an input whose signature binds the output of its index;
 * - an inscription in an input signed with ALL|ANYONECANPAY, because such listings may be paid at another address;
 * - an output for the script that held the inscription, and another script among the inputs: the script of the taker,
 * or of the payer of an offer.
 *
 * @param inputs null: the spent output is unknown and may belong to anyone; it holds no inscription
 *
 * @param moving inputs with inscriptions
 */
export function maySell(
  inputs: readonly (MovingInput | null)[],
  outputs: readonly Coin[],
  moving: readonly number[],
): boolean {
  if (isOwnTransfer(inputs, moving)) return false;
  if (hasPair(inputs, moving) || hasListing(inputs, moving)) return true;
  const [item] = moving;
  if (moving.length === 1 && item !== undefined) {
    const { script: holder } = inputs[item]!;
    return outputs.some(({ script }) => script === holder);
  }
  const holders = new Set(moving.map((at) => inputs[at]!.script));
  return outputs.some(({ script }) => holders.has(script));
}

/** Whether a single script pays for a transfer, and no signature binds a pair. If so, the outputs need not be read. */
export function isOwnTransfer(inputs: readonly (MovingInput | null)[], moving: readonly number[]): boolean {
  const one = inputs[0]?.script;
  return one !== undefined && inputs.every((input) => input?.script === one) && !hasPair(inputs, moving);
}

function hasListing(inputs: readonly (MovingInput | null)[], moving: readonly number[]): boolean {
  return moving.some((at) => listingSignature(inputs[at]!) !== undefined);
}

function hasPair(inputs: readonly (MovingInput | null)[], moving: readonly number[]): boolean {
  return moving.some((at) => pairSignature(inputs[at]!) !== undefined);
}
