import { Type } from 'typebox';
import type { Decimal } from '#fx/fx-rates.ts';
import { priceReads } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { exactNumber } from '#kernel/text/exact-number.ts';

const rates = Type.Object(
  {
    bitcoin: Type.Optional(Type.Object({ usd: Type.Number({ description: 'US dollars, all digits' }) })),
    updatedAt: Type.Integer({ description: 'time of the prices, ms since 1970' }),
  },
  { additionalProperties: true, description: 'prices of coins, by name, from the operator' },
);

/**
 * Route of `GET /fxrate`, which returns prices of coins in dollars. Shops need these prices to set prices in runes
 * (client-compat 3.14).
 */
export function fxRateRoutes(app: App, { fxRates = null }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/fxrate',
    schema: {
      operationId: 'fxRate',
      summary: 'Prices of coins in US dollars',
      tags: ['token payments'],
      response: { 200: rates },
    },
    config: { errors: 'serviceRead', guard: priceReads, failures: [503] },
    handler: async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      const found = (await fxRates?.()) ?? null;
      if (found === null)
        throw new AppError(
          'fx_rates_missing',
          'prices in dollars are unknown or too old; ask the operator to set FX_RATES_FILE',
        );
      const coins = [...found.usd].map(([coin, usd]) => [coin, { usd: exactNumber(digitsOf(usd)) }] as const);
      return { ...Object.fromEntries(coins), updatedAt: found.updatedAt.getTime() } as never;
    },
  });
}

/** Writes a decimal like a number in JSON. */
function digitsOf({ digits, decimals }: Decimal): string {
  const text = String(digits).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}
