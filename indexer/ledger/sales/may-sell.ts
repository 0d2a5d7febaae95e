import { pairSignature } from './fitting-signatures.ts';
import type { Coin, MovingInput } from './moving-transaction.ts';

/**
 * Whether a transaction can have sold what its inputs hold: false for most transfers, which then need no further look
 * (find-payment.ts). A payment needs one of two:
 *
 * - an inscription in an input whose signature binds the output of its index;
 * - an output for the script that held it, and another script among the inputs: the taker's, or that of who pays for an
 *   offer.
 *
 * @param inputs null: what it spends is not known, and may be anybody's. It holds no inscription.
 *
 * @param moving inputs with inscriptions
 */
export function maySell(
  inputs: readonly (MovingInput | null)[],
  outputs: readonly Coin[],
  moving: readonly number[],
): boolean {
  if (moving.some((at) => pairSignature(inputs[at]!) !== undefined)) return true;
  const one = inputs[0]?.script;
  if (one !== undefined && inputs.every((input) => input?.script === one)) return false;
  const paid = new Set(outputs.map(({ script }) => script));
  return moving.some((at) => paid.has(inputs[at]!.script));
}
