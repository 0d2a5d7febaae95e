import type { MovingTransaction } from './moving-transaction.ts';
import { dustMax } from './sale-rules.ts';

/** OP_RETURN: nobody can spend it. */
export const opReturn = '\x6a';
/** OP_RETURN OP_13. */
const runestone = '\x6a\x5d';

/** Whether somebody else's inscription goes to one of these owners, while that of `input` leaves. */
export function isExchange(
  { inputs, outputs, moves }: MovingTransaction,
  input: number,
  owners: readonly string[],
): boolean {
  return moves.some(
    (move) =>
      move.input !== input &&
      move.landing !== null &&
      !owners.includes(inputs[move.input]!.script) &&
      owners.includes(outputs[move.landing]!.script),
  );
}

/** Whether there is a runestone, somebody else's input, and an output for the holder that holds next to no sats. */
export function isPaidInRunes({ inputs, outputs, moves }: MovingTransaction, input: number): boolean {
  if (!outputs.some(({ script }) => script.startsWith(runestone))) return false;
  const { script: holder } = inputs[input]!;
  if (inputs.every(({ script }) => script === holder)) return false;
  const landings = new Set(moves.map(({ landing }) => landing));
  return outputs.some(
    ({ script, value }, vout) => script === holder && value <= dustMax && !landings.has(vout),
  );
}
