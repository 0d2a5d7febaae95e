import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isGiven, type RequestFault, RequestValues } from '#kernel/requests/request-values.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { OrderRequest } from '#orders/order/order-request.ts';
import { givenParents } from './given-parents.ts';
import { type ReadAhead, readAtOnce } from './read-ahead.ts';
import { readSatributes } from './read-satributes.ts';

export interface ExtrasOptions {
  readonly type: OrderTerms['type'];
  readonly network: NetworkParameters;
  /** The active satribute definitions. Called only if an order names satributes. */
  readonly satributes: () => SatributeBook;
  /** Timeout in minutes for an order that names no timeout. */
  readonly timeoutMinutes: number;
  /** Maximum timeout in minutes, even if the order names a longer timeout. Absent if there is no maximum. */
  readonly timeoutMostMinutes?: number;
  /** The reason why no webhook is sent to a URL. Null if the URL is allowed. */
  readonly urlProblem: (url: string) => string | null;
  /** Slow values that were already read. Absent if they are read now. */
  readonly ahead?: ReadAhead;
}

/** Fields of an order that do not affect its transactions. */
export interface OrderExtras {
  readonly webhookUrl: string | null;
  readonly refundScript: Uint8Array | null;
  readonly timeoutMinutes: number;
  readonly faults: readonly RequestFault[];
  /** The request in the form that answers show. */
  readonly request: (postage: bigint, count: number) => Omit<OrderRequest, 'uncurseIt'>;
}

/** Maximum timeout in minutes: one month. A price for a longer time would be a bet on fees. */
const timeoutMostMinutes = 43_200;
const timeoutStepMinutes = 10;

/**
 * Reads the fields of a creation that `readOrderRequest` does not read. Never throws: any body gives extras, possibly
 * with faults.
 */
export function readExtras(body: unknown, options: ExtrasOptions): OrderExtras {
  const values = new RequestValues();
  const order = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const webhookUrl = readWebhookUrl(values, order['webhookUrl'], options);
  const refundAddress = values.text(order['refundAddress'], 'refundAddress');
  const refundScript = readRefundScript(values, refundAddress, options);
  const timeoutMinutes = readTimeout(values, order['timeout'], options) ?? options.timeoutMinutes;
  const projectTag = values.text(order['projectTag'], 'projectTag');
  const allowedSatributes = readSatributes(values, order['allowedSatributes'], options.satributes);
  return {
    webhookUrl,
    refundScript,
    timeoutMinutes,
    faults: values.faults,
    request: (postage, count) => ({
      count,
      fee: feeOf(order['fee']),
      postage: Number(postage),
      receiveAddress: (order['receiveAddress'] ?? null) as OrderRequest['receiveAddress'],
      delegates: shownItems(order['delegates'], delegateFields),
      parents: orNull(shownItems(givenParents(order, options.type).items, parentFields)),
      inscriptionIdPrefix: null,
      allowedSatributes: allowedSatributes.length === 0 ? null : allowedSatributes,
      additionalFee: null,
      referral: null,
      refundAddress,
      projectTag,
      zeroConf: null,
      payToAnchor: false,
      ...(options.type === 'bulk' ? managedFields(order) : {}),
    }),
  };
}

/** Fields that only managed orders have, unchanged. Other values were refused before. */
const managedFields = (order: Readonly<Record<string, unknown>>) => ({
  rareSats: shownValue(order['rareSats']),
  compress: shownSwitch(order['compress']),
  batchMode: shownValue(order['batchMode']),
});

const shownSwitch = (given: unknown): boolean | string | number | null =>
  typeof given === 'boolean' ? given : shownValue(given);

function readWebhookUrl(values: RequestValues, given: unknown, { urlProblem }: ExtrasOptions): string | null {
  const url = values.text(given, 'webhookUrl');
  const problem = url === null ? null : urlProblem(url);
  return problem === null ? url : values.sentence('webhookUrl', `webhookUrl: ${problem}`);
}

function readRefundScript(
  values: RequestValues,
  address: string | null,
  { network, ahead = readAtOnce(network) }: ExtrasOptions,
): Uint8Array | null {
  if (address === null) return null;
  const parsed = ahead.address(address);
  return parsed.kind === 'script' ? parsed.script : values.fault('refundAddress', parsed.reason);
}

function readTimeout(
  values: RequestValues,
  given: unknown,
  { timeoutMostMinutes: most = timeoutMostMinutes }: Pick<ExtrasOptions, 'timeoutMostMinutes'>,
): number | null {
  const minutes = values.whole(given, 'timeout');
  if (minutes === null) return null;
  const timeout = Number(minutes);
  if (timeout >= timeoutStepMinutes && timeout <= timeoutMostMinutes && timeout % timeoutStepMinutes === 0)
    // a longer timeout is shortened, because clients send three days, the default of the public interface, without
    // being asked
    return Math.min(timeout, most);
  return values.fault(
    'timeout',
    `must be a multiple of ${timeoutStepMinutes} minutes, and at most ${timeoutMostMinutes}`,
  );
}

/** The fee unchanged, because clients compare it with their own value. */
const feeOf = (given: unknown): number | string =>
  typeof given === 'number' || typeof given === 'string' ? given : 2;

/**
 * Fields of delegates in answers. Contents are left out, because with 10,000 delegates the answer would be as long as
 * the request.
 */
const delegateFields = ['delegateId', 'metaprotocol', 'metadataUrl', 'metadataSize'] as const;
const parentFields = ['inscriptionId', 'returnAddress', 'value'] as const;

/**
 * The known fields of a list of objects, unchanged. They are named one by one, because otherwise an unknown field of 30
 * MB would be stored, and would be part of each answer.
 */
function shownItems(given: unknown, names: readonly string[]): readonly object[] | null {
  if (!Array.isArray(given)) return null;
  return given.map((item: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const shown = shownValue(item[name]);
        return shown === null ? [] : [[name, shown]];
      }),
    ),
  );
}

const orNull = (items: readonly object[] | null): readonly object[] | null =>
  items?.length === 0 ? null : items;

/**
 * A number or short text, unchanged. Returns null for any other value, because a field that another field replaces is
 * not checked.
 */
function shownValue(value: unknown): string | number | null {
  if (typeof value === 'number') return value;
  return isGiven(value) ? new RequestValues().text(value, '') : null;
}
