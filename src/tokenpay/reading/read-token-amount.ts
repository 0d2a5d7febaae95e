import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { amountFault } from '#kernel/runes/read-amount.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { hasFormOfRuneId } from '#kernel/runes/rune-id.ts';
import { parseSpacedRune, runeNameForm, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';

/** An amount of a rune in a request, before the rune is looked up. */
export interface SentTokenAmount {
  readonly rune: Rune;
  /** The rune's name, exactly as the client sent it. */
  readonly token: string;
  /** Amount in display units, as digits. */
  readonly amount: string;
}

/**
 * Reads the fields `token` and `amount` of a body whose numbers are texts (`exactJson`). The name may have spacers and
 * must be in capitals. The amount must be possible for a rune. Returns null if a field is invalid, after adding all
 * faults to `values`. Total.
 */
export function readTokenAmount(
  values: RequestValues,
  fields: Readonly<Record<string, unknown>>,
): SentTokenAmount | null {
  const rune = readRune(values, fields['token']);
  const amount = readAmountText(values, fields['amount']);
  return rune === null || amount === null ? null : { ...rune, amount };
}

function readRune(values: RequestValues, given: unknown): Pick<SentTokenAmount, 'rune' | 'token'> | null {
  const token = values.text(given, 'token');
  if (token === null) return values.required(given, 'token');
  const parsed = parseSpacedRune(token);
  if (parsed === null)
    return values.fault(
      'token',
      `is not the name of a rune (${whyNoSpacedRune(token)}). ${expectedFor(token)}.`,
    );
  return { rune: parsed.rune, token };
}

/** Explains what a client must send, if its token is not a rune name. */
function expectedFor(token: string): string {
  if (hasFormOfRuneId(token))
    return 'This is the id of a rune. Send the name of the rune instead, for example UNCOMMON•GOODS';
  const capitals = token.toUpperCase();
  return parseSpacedRune(capitals) === null ? runeNameForm : `Send the name in capitals: ${capitals}`;
}

function readAmountText(values: RequestValues, given: unknown): string | null {
  if (!isGiven(given)) return values.required(given, 'amount');
  if (typeof given !== 'string') return values.fault('amount', 'must be a number');
  const fault = amountFault(given);
  return fault === null ? given : values.fault('amount', `${fault}.`);
}
