import type { KeyFacts } from '#accounts/key-look-ups.ts';
import { readKeySheet } from '#accounts/key-sheet.queries.ts';
import { rateInWords } from '#accounts/rate.ts';
import { type UsageLine, usageSince } from '#accounts/usage.store.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { addressOfRequest } from '#http/server/access/client.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Discount, DiscountedFee, KeyTerms } from '#kernel/contracts/asking-key.ts';
import { grouped } from '#web/format.ts';
import type { Markup } from '#web/html.ts';
import type { Site } from '#web/layout.ts';
import { accountPage, noKeyPage, type UsageDay, type UsageGroup } from '#web/pages/account.page.ts';

/** Number of days of usage on the page, the same as in `satscribe keys list`. */
const usageDays = 30;
const dayMs = 86_400_000;

/** Route of the page about the key that a browser keeps in its cookie. The page shows the key's purpose and usage. */
export function accountRoutes(app: App, deps: AppDependencies): void {
  const { pool, access = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/account',
    schema: {
      operationId: 'account',
      summary: 'The key that the browser keeps: its scopes, limits and usage',
      tags: ['pages'],
      response: { 200: page('the key, or a form to give one'), 304: unchanged },
    },
    // the lookup of a key itself counts towards the limit of unknown keys
    config: { errors: 'plain', guard: open, cors: false },
    handler: async (request, reply) => {
      varyBy(reply, 'Cookie');
      reply.header('cache-control', 'no-store');
      const { signal } = askerOf(reply);
      const { cookie } = request.headers;
      const found = access === null ? 'off' : await access.keyOfCookie(cookie, addressOfRequest(request));
      const site = await withSnapshot(pool, async ({ tip }) => siteOf(deps, tip), signal);
      const shown = typeof found === 'string' ? noKeyPage(site, found) : await keyPage(pool, site, found);
      return sendPage(reply, shown);
    },
  });
}

async function keyPage(pool: AppDependencies['pool'], site: Site, key: KeyFacts): Promise<Markup> {
  const days = Array.from({ length: usageDays }, (_, place) =>
    new Date(Date.now() - (usageDays - 1 - place) * dayMs).toISOString().slice(0, 10),
  );
  const sheet = await readKeySheet(pool, Buffer.from(key.hash, 'hex'));
  // the key was revoked in the last seconds, while this process still had it in memory
  if (sheet === null) return noKeyPage(site, 'invalid');
  const lines = await usageSince(pool, [key.id], days[0] ?? '');
  return accountPage({
    site,
    account: key.account,
    prefix: sheet.prefix,
    scopes: key.scopes,
    rate: key.rate === null ? null : rateInWords(key.rate),
    created: dateOf(sheet.createdAt),
    lastUsed: sheet.lastUsedAt === null ? null : dateOf(sheet.lastUsedAt),
    terms: termsWords(key.terms),
    days: usageByDay(days, lines),
    groups: usageByGroup(lines),
  });
}

const dateOf = (date: Date): string => date.toISOString().slice(0, 10);

function usageByDay(days: readonly string[], lines: readonly UsageLine[]): UsageDay[] {
  return days.map((day) => ({ day, ...sumOf(lines.filter((line) => line.day === day)) }));
}

function usageByGroup(lines: readonly UsageLine[]): UsageGroup[] {
  return [...Map.groupBy(lines, ({ endpoints }) => endpoints)]
    .map(([name, of]) => ({ name, ...sumOf(of) }))
    .toSorted((a, b) => b.requests - a.requests);
}

function sumOf(lines: readonly UsageLine[]): { readonly requests: number; readonly refused: number } {
  return {
    requests: lines.reduce((sum, { requests }) => sum + requests, 0),
    refused: lines.reduce((sum, { refused }) => sum + refused, 0),
  };
}

const feeWords: Readonly<Record<DiscountedFee, string>> = {
  baseFee: 'base fee',
  rareSatsFee: 'fee of rare sats',
  collectionServiceFee: 'service fee of collections',
};

const discountWords = ({ discount, parameter, type }: Discount): string =>
  `${feeWords[parameter]}: ${type === 'fixed' ? `${grouped(discount)} sats` : `${discount} %`} less`;

function termsWords({ baseFee, directBaseFee, discounts, reservedMax }: KeyTerms): string[] {
  return [
    ...(baseFee === null ? [] : [`managed orders: ${grouped(baseFee)} sats per file`]),
    ...(directBaseFee === null ? [] : [`direct orders: ${grouped(directBaseFee)} sats per file`]),
    ...discounts.map(discountWords),
    ...(reservedMax === null ? [] : [`at most ${grouped(reservedMax)} reserved sats of the inventory`]),
  ];
}
