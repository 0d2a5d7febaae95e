import type pg from 'pg';
import type { ConsolePart, ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { webhookStates } from '#webhooks/webhook.ts';
import { listDeliveries } from '#webhooks/webhooks.queries.ts';
import { hrefOf, listPageOf, pagerOf, rowsOn, type SheetQuery, stateChoices } from './list-pages.ts';

const path = '/console/webhooks';

/** Messages to receivers, the newest first. Their URLs may hold tokens of the receivers, so only the host is shown. */
export async function webhooksSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const state = webhookStates.find((name) => name === query['state']);
  const { subject } = query;
  const deliveries = await listDeliveries(pool, { subject, state, limit: place.limit });
  const of: ConsolePart[] =
    subject === undefined
      ? []
      : [
          { kind: 'words', words: [`Messages about ${subject}.`] },
          {
            kind: 'form',
            action: `${path}/replay`,
            button: 'Send all of them again',
            fields: { subject },
          },
          { kind: 'actions', actions: [{ words: 'Show all', href: path }] },
        ];
  return {
    title: 'Webhooks',
    parts: [
      stateChoices(path, webhookStates, query['state']),
      ...of,
      {
        kind: 'table',
        label: 'Messages',
        columns: [
          'Created (UTC)',
          'About',
          'Number',
          'State',
          'Tries',
          'Last answer',
          'Next try (UTC)',
          'Host',
        ],
        rows: rowsOn(place, deliveries).map(
          ({ createdAt, subject: about, sequence, state: now, tries, status, error, nextTryAt, url }) => [
            createdAt,
            { words: about, href: hrefOf(path, { subject: about }) },
            sequence,
            now,
            tries,
            status === null ? error : String(status),
            nextTryAt,
            url === null ? null : new URL(url).host,
          ],
        ),
        empty: 'There is no such message.',
      },
      pagerOf(place, deliveries, path, query),
    ],
  };
}
