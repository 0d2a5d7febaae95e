import { isGiven, type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import { readWhole } from '#kernel/runes/read-amount.ts';
import { readTokenAmount, type SentTokenAmount } from './read-token-amount.ts';
import { shopUrl } from './shop-url.ts';

/** A shop's request for an order, before the rune is looked up. */
export interface SentTokenOrder extends SentTokenAmount {
  /** Sats for the account, in addition to the base fee. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
}

export type ReadTokenOrder =
  | { readonly kind: 'read'; readonly sent: SentTokenOrder }
  | { readonly kind: 'faulty'; readonly faults: readonly RequestFault[] };

/**
 * Maximum number of characters of a description. Longer texts do not describe a purchase. The database has the same
 * bound.
 */
const descriptionMax = 1000;
/** Maximum number of sats. Higher numbers are not exact in responses, and only 2.1 × 10^15 sats exist. */
const satsMax = 999_999_999_999_999n;

/**
 * Reads the body of `POST /tokenpay/user/order/rune`, whose numbers are texts (`exactJson`). Reports all faults.
 * Ignores other fields, such as a shop's `order_id`, `name` and `email`, because no personal data is stored. Total.
 *
 * @param urlProblem returns the reason why a URL must not be used, or null if the URL is allowed
 */
export function readTokenOrder(body: unknown, urlProblem: (url: string) => string | null): ReadTokenOrder {
  const values = new RequestValues();
  const fields = values.object(body, 'the body') ?? {};
  const units = readTokenAmount(values, fields);
  const additionalFee = readSats(values, fields['additionalFee'], 'additionalFee') ?? 0n;
  const description = values.text(fields['description'], 'description');
  if (description !== null && description.length > descriptionMax)
    values.fault('description', `has more than ${descriptionMax} characters`);
  const webhookUrl = values.text(fields['webhookUrl'], 'webhookUrl');
  const problem = webhookUrl === null ? null : urlProblem(webhookUrl);
  if (problem !== null) values.fault('webhookUrl', problem);
  const successUrl = shopUrl(values, fields['successUrl'], 'successUrl');
  const { faults } = values;
  if (units === null || faults.length > 0) return { kind: 'faulty', faults };
  const sent = { ...units, additionalFee, description, webhookUrl, successUrl };
  return { kind: 'read', sent };
}

/**
 * Reads sats in all forms in which clients write numbers, for example `1.0E+7` (PHP) or `1000.0` (Python). Returns null
 * if the field is absent, or after adding a fault to `values`.
 */
function readSats(values: RequestValues, given: unknown, name: string): bigint | null {
  if (!isGiven(given)) return null;
  const sats = typeof given === 'string' ? readWhole(given) : null;
  return sats !== null && sats <= satsMax ? sats : values.fault(name, 'must be a whole number of at least 0');
}
