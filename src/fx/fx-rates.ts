/** A number as all of its digits, and how many of them are decimals. This represents any number exactly. */
export interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/** Prices of coins in US dollars. */
export interface FxRates {
  /** Prices by the name of the coin, for example `bitcoin`. */
  readonly usd: ReadonlyMap<string, Decimal>;
  readonly updatedAt: Date;
}

/** Maximum number of coins in one file. Lists of rates that people make have fewer. */
const coinsMax = 1000;
/**
 * The form of a price, with the maximum number of digits before the point, after the point, and in the exponent. The
 * price of any coin has fewer digits.
 */
const decimalForm = /^(\d{1,20})(?:\.(\d{1,20}))?(?:[eE]([+-]?\d{1,2}))?$/u;

/** Reads a positive number in the form of JSON. Returns `null` for any other text. Never throws. */
export function readDecimal(text: string): Decimal | null {
  const [, whole, decimals = '', exponent = '0'] = decimalForm.exec(text) ?? [];
  if (whole === undefined) return null;
  const scale = decimals.length - Number(exponent);
  const digits = BigInt(whole + decimals) * 10n ** BigInt(Math.max(0, -scale));
  return digits === 0n ? null : { digits, decimals: Math.max(0, scale) };
}

/** The `rates` in a text, or the `reason` why it is not a list of rates. */
export type ReadFxRates =
  | { readonly kind: 'rates'; readonly rates: FxRates }
  | { readonly kind: 'faulty'; readonly reason: string };

const faulty = (reason: string): ReadFxRates => ({ kind: 'faulty', reason });

/**
 * Reads `{"bitcoin": {"usd": 91234.5}, …, "updatedAt": 1764000000000}`. Prices are read from their digits, so no price
 * is rounded. A price may also be a JSON string. `updatedAt` is in milliseconds, or a date. Other fields are ignored.
 * Never throws.
 *
 * @param writtenAt the time of the rates if `updatedAt` is missing
 */
export function readFxRates(text: string, writtenAt: Date): ReadFxRates {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return faulty('it is not a JSON object');
  const { updatedAt: given, ...coins } = value as Readonly<Record<string, unknown>>;
  const updatedAt = given === undefined ? writtenAt : dateOf(given);
  if (updatedAt === null) return faulty('updatedAt is neither a number of milliseconds nor a date');
  const named = Object.entries(coins);
  if (named.length > coinsMax) return faulty(`it has more than ${coinsMax} coins`);
  const usd = new Map<string, Decimal>();
  for (const [coin, entry] of named) {
    const price = (entry as { readonly usd?: unknown } | null)?.usd;
    if (price === undefined) continue;
    const decimal = typeof price === 'string' ? readDecimal(price) : null;
    if (decimal === null) return faulty(`the price of ${coin.slice(0, 40)} is not a number above 0`);
    usd.set(coin, decimal);
  }
  return { kind: 'rates', rates: { usd, updatedAt } };
}

/** Parses JSON, and keeps each number as its text. undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, { source }: { source?: string } = {}) =>
      typeof value === 'number' ? (source ?? String(value)) : value,
    );
  } catch {
    return undefined;
  }
}

function dateOf(given: unknown): Date | null {
  if (typeof given !== 'string') return null;
  const date = /^\d{1,16}$/u.test(given) ? new Date(Number(given)) : new Date(given);
  return Number.isNaN(date.getTime()) ? null : date;
}

const satsOfBitcoin = 100_000_000n;

/**
 * Converts sats to US dollars, rounded to cents. Returns `null` if a number cannot hold that many cents exactly. Pure.
 */
export function usdOf(sats: bigint, { digits, decimals }: Decimal): number | null {
  const divisor = satsOfBitcoin * 10n ** BigInt(decimals);
  const cents = (sats * digits * 100n + divisor / 2n) / divisor;
  return cents <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(cents) / 100 : null;
}
