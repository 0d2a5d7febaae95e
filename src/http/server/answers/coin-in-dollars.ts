import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';

/** The current price of a coin in dollars. Null if the operator has not set up rates. */
export async function coinInDollars({ fxRates }: Pick<AppDependencies, 'fxRates'>): Promise<number | null> {
  const rate = (await fxRates?.())?.usd.get('bitcoin');
  return rate === undefined ? null : Number(rate.digits) / 10 ** rate.decimals;
}
