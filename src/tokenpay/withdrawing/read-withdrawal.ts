import { isGiven, type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { readTokenAmount } from '#tokenpay/reading/read-token-amount.ts';
import { bitcoinToken, tokenProtocols } from '#tokenpay/telling/token-order-answer.ts';

/** An account's request for a withdrawal, before the rune and the address are looked up. */
export interface SentWithdrawal {
  /** The rune, or null if the asset is BTC. */
  readonly rune: Rune | null;
  /** The token's name, exactly as the client sent it. */
  readonly token: string;
  /** Amount in display units, as digits. */
  readonly amount: string;
  readonly address: string;
  /** Who pays the fee for BTC. For runes, the balance always pays the price. */
  readonly feeFrom: FeeSource;
  /** Whether the request needs only the price, so that nothing is stored. */
  readonly isDryRun: boolean;
  readonly webhookUrl: string | null;
}

/**
 * Sources of the fee. `withdrawal`: the receiver gets the amount less the fee. `balance`: the account pays the fee in
 * addition to the amount.
 */
export const feeSources = ['withdrawal', 'balance'] as const;
export type FeeSource = (typeof feeSources)[number];

export type ReadWithdrawal =
  | { readonly kind: 'read'; readonly sent: SentWithdrawal }
  | { readonly kind: 'faulty'; readonly faults: readonly RequestFault[] };

/**
 * Reads the body of `POST /tokenpay/user/account/withdraw`, whose numbers are texts (`exactJson`). The fee rate is not
 * read here. Reports all faults. Ignores other fields. Total.
 *
 * @param urlProblem returns the reason why a URL must not be used, or null if the URL is allowed
 * @param values receives the faults; it may already contain faults of fields that the caller reads
 */
export function readWithdrawal(
  body: unknown,
  urlProblem: (url: string) => string | null,
  values: RequestValues = new RequestValues(),
): ReadWithdrawal {
  const fields = values.object(body, 'the body') ?? {};
  const protocol = readProtocol(values, fields);
  const units = protocol === 'bitcoin' ? readBitcoin(values, fields) : readTokenAmount(values, fields);
  const address = values.text(fields['address'], 'address');
  if (address === null) values.required(fields['address'], 'address');
  const feeFrom = values.choice(fields['feeFrom'], 'feeFrom', feeSources, 'withdrawal');
  const isDryRun = values.boolean(fields['dryRun'], 'dryRun');
  const webhookUrl = values.text(fields['webhookUrl'], 'webhookUrl');
  const problem = webhookUrl === null ? null : urlProblem(webhookUrl);
  if (problem !== null) values.fault('webhookUrl', problem);
  const { faults } = values;
  if (units === null || address === null || faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'read', sent: { ...units, address, feeFrom, isDryRun, webhookUrl } };
}

/** The protocol in the request. Null if it is absent or not a text. */
function readProtocol(values: RequestValues, fields: Readonly<Record<string, unknown>>): string | null {
  const protocol = values.text(fields['protocol'], 'protocol');
  if (protocol === null) return values.required(fields['protocol'], 'protocol');
  if (!tokenProtocols.some((known) => known === protocol))
    values.fault('protocol', `must be one of ${tokenProtocols.join(', ')}`);
  if (protocol === 'rune' && fields['token'] === bitcoinToken)
    values.fault('protocol', `must be bitcoin for the token ${bitcoinToken}, because no rune has this name`);
  return protocol;
}

function readBitcoin(
  values: RequestValues,
  fields: Readonly<Record<string, unknown>>,
): Pick<SentWithdrawal, 'rune' | 'token' | 'amount'> | null {
  const token = values.text(fields['token'], 'token');
  if (token === null) values.required(fields['token'], 'token');
  else if (token !== bitcoinToken)
    values.fault('token', `must be ${bitcoinToken}, the only token of bitcoin`);
  const amount = fields['amount'];
  if (!isGiven(amount)) return values.required(amount, 'amount');
  return typeof amount === 'string'
    ? { rune: null, token: bitcoinToken, amount }
    : values.fault('amount', 'must be a number');
}
