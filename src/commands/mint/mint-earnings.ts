import { unknownMint } from '#collections/approving/approval-errors.ts';
import { readCollection } from '#collections/collection/collection.store.ts';
import { csvLine } from '#kernel/text/csv.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { type CollectionEarning, readCollectionEarnings } from '#orders/collections/earnings.queries.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { withService } from '#src/commands/service-database.ts';

const columns = ['collection', 'kind', 'owner', 'sats', 'orders', 'items'] as const;

/** Shows how much creators and referrers have earned from one collection, or from each collection. */
export async function earnings({ flags, ...context }: CommandContext, id: string | null): Promise<void> {
  await withService({ flags, ...context }, async (pool) => {
    if (id !== null && (await readCollection(pool, id)) === null) throw unknownMint(id);
    const found = await readCollectionEarnings(pool, id);
    if (flags['csv'] !== undefined) {
      const lines = found.map(({ sats, ...of }) =>
        columns.map((name) => (name === 'sats' ? Number(sats) : of[name])),
      );
      await context.print([[...columns], ...lines].map(csvLine).join(''), 'exact');
    } else if (flags['json'] !== undefined) await context.print(`${JSON.stringify(json(found))}\n`);
    else await context.print(table(found, id));
  });
}

function json(found: readonly CollectionEarning[]) {
  return [...Map.groupBy(found, ({ collection }) => collection)].map(([collection, of]) => ({
    collection,
    creatorSats: Number(sumOf(of, 'creator')),
    referralSats: Number(sumOf(of, 'referral')),
    earnings: of.map(({ kind, owner, sats, orders, items }) => ({
      kind,
      owner,
      sats: Number(sats),
      orders,
      items,
    })),
  }));
}

const sumOf = (found: readonly CollectionEarning[], of: CollectionEarning['kind']): bigint =>
  found.reduce((sum, { kind, sats }) => sum + (kind === of ? sats : 0n), 0n);

function table(found: readonly CollectionEarning[], id: string | null): string {
  if (found.length === 0)
    return `${id === null ? 'no collection has earned anything' : `${id} has earned nothing`} yet, because only delivered orders earn\n`;
  const line = ([sats = '', items = '', orders = '', owner = '']: readonly string[]): string =>
    `  ${sats.padStart(14)} ${items.padStart(7)} ${orders.padStart(7)}  ${owner}\n`;
  return [...Map.groupBy(found, ({ collection }) => collection)]
    .map(([collection, of]) =>
      [
        `${collection}\n`,
        line(['SATS', 'ITEMS', 'ORDERS', 'WHO']),
        ...of.map(({ kind, owner, sats, orders, items }) =>
          line([String(sats), String(items), String(orders), `${kind} ${terminalText(owner)}`]),
        ),
        line([String(sumOf(of, 'creator')), '', '', 'all creators']),
        line([String(sumOf(of, 'referral')), '', '', 'all referrals']),
      ].join(''),
    )
    .join('');
}
