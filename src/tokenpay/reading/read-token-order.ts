import { isGiven, type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { parseSpacedRune, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { shopUrl } from './shop-url.ts';

/** The request of a shop for an order, before its rune is looked up. */
export interface SentTokenOrder {
  readonly rune: Rune;
  /** The name as it was sent. */
  readonly token: string;
  /** Display units, in digits. */
  readonly amount: string;
  /** Sats for the account, beside the base fee. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
}

export type ReadTokenOrder =
  | { readonly kind: 'read'; readonly sent: SentTokenOrder }
  | { readonly kind: 'faulty'; readonly faults: readonly RequestFault[] };

/** Longer ones are no descriptions of a purchase; the database has the same bound. */
const descriptionMax = 1000;

/**
 * Reads the body of `POST /tokenpay/user/order/rune`, whose numbers are texts (`exactJson`). All faults are told.
 * Other fields, as a shop's `order_id`, `name` and `email`, are ignored: no personal data is kept. Total.
 *
 * @param urlProblem why nothing may be sent to a URL; null: it may be
 */
export function readTokenOrder(body: unknown, urlProblem: (url: string) => string | null): ReadTokenOrder {
  const values = new RequestValues();
  const fields = values.object(body, 'the body') ?? {};
  const rune = readRune(values, fields['token']);
  const amount = readAmountText(values, fields['amount']);
  const additionalFee = values.whole(fields['additionalFee'], 'additionalFee') ?? 0n;
  const description = values.text(fields['description'], 'description');
  if (description !== null && description.length > descriptionMax)
    values.fault('description', `has more than ${descriptionMax} characters`);
  const webhookUrl = values.text(fields['webhookUrl'], 'webhookUrl');
  const problem = webhookUrl === null ? null : urlProblem(webhookUrl);
  if (problem !== null) values.fault('webhookUrl', problem);
  const successUrl = shopUrl(values, fields['successUrl'], 'successUrl');
  const { faults } = values;
  if (rune === null || amount === null || faults.length > 0) return { kind: 'faulty', faults };
  const sent = { ...rune, amount, additionalFee, description, webhookUrl, successUrl };
  return { kind: 'read', sent };
}

/** A name with or without spacers, in capitals. */
function readRune(values: RequestValues, given: unknown): Pick<SentTokenOrder, 'rune' | 'token'> | null {
  const token = values.text(given, 'token');
  if (token === null) return values.required(given, 'token');
  const parsed = parseSpacedRune(token);
  if (parsed === null) return values.fault('token', `is not the name of a rune: ${whyNoSpacedRune(token)}`);
  return { rune: parsed.rune, token };
}

function readAmountText(values: RequestValues, given: unknown): string | null {
  if (!isGiven(given)) return values.required(given, 'amount');
  return typeof given === 'string' ? given : values.fault('amount', 'must be a number');
}
