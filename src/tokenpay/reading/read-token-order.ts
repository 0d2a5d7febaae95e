import { isGiven, type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import { readWhole } from '#kernel/runes/read-amount.ts';
import { readTokenAmount, type SentTokenAmount } from './read-token-amount.ts';
import { shopUrl } from './shop-url.ts';

/** The request of a shop for an order, before its rune is looked up. */
export interface SentTokenOrder extends SentTokenAmount {
  /** Sats for the account, beside the base fee. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
}

export type ReadTokenOrder =
  | { readonly kind: 'read'; readonly sent: SentTokenOrder }
  | { readonly kind: 'faulty'; readonly faults: readonly RequestFault[] };

/** Longer texts are not descriptions of a purchase; the database has the same bound. */
const descriptionMax = 1000;
/** Greater numbers of sats are not exact in answers; there are 2.1 × 10^15 sats. */
const satsMax = 999_999_999_999_999n;

/**
 * Reads the body of `POST /tokenpay/user/order/rune`, whose numbers are texts (`exactJson`). All faults are reported.
 * Other fields, such as a shop's `order_id`, `name` and `email`, are ignored: no personal data is stored. Total.
 *
 * @param urlProblem why a URL must not be used; null: it may be
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

/** Sats, as clients write numbers: PHP has `1.0E+7`, Python `1000.0`. Null: absent, or `values` has the fault. */
function readSats(values: RequestValues, given: unknown, name: string): bigint | null {
  if (!isGiven(given)) return null;
  const sats = typeof given === 'string' ? readWhole(given) : null;
  return sats !== null && sats <= satsMax ? sats : values.fault(name, 'must be a whole number of at least 0');
}
