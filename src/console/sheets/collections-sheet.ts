import type pg from 'pg';
import { unknownMint } from '#collections/approving/approval-errors.ts';
import { countFiles } from '#collections/approving/count-files.queries.ts';
import {
  type Collection,
  collectionStates,
  listCollections,
  readCollection,
} from '#collections/collection/collection.store.ts';
import { readFiles } from '#collections/collection/files.store.ts';
import { readListedPhases } from '#collections/collection/phases.store.ts';
import { actionHref } from '#console/actions/console-actions.ts';
import type { ConsoleLink, ConsolePart, ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { listPageOf, pagerOf, rowsOn, type SheetQuery, stateChoices } from './list-pages.ts';

const path = '/console/collections';
/** Number of files that the page of a collection names. */
const filesShown = 50;

/** Collections for sale, the oldest first; without `state` those that wait for a decision. */
export async function collectionsSheet(pool: pg.Pool, query: SheetQuery): Promise<ConsoleSheet> {
  const place = listPageOf(query);
  const state = collectionStates.find((name) => name === query['state']) ?? null;
  const listed = await listCollections(pool, state, { after: null, limit: place.limit });
  return {
    title: 'Collections for sale',
    parts: [
      stateChoices(path, collectionStates, query['state']),
      {
        kind: 'table',
        label: 'Collections',
        columns: [
          'Collection',
          'Name',
          'State',
          'Items',
          'Sold',
          'Price (sats)',
          'Creator is paid at',
          'Sent (UTC)',
        ],
        rows: rowsOn(place, listed).map(
          ({ id, name, state: now, totalCount, taken, unpaid, price, creatorAddress, createdAt }) => [
            { words: id, href: `${path}/${id}` },
            name,
            now,
            totalCount,
            taken - unpaid,
            Number(price),
            creatorAddress,
            createdAt,
          ],
        ),
        empty: 'No collection is in this state.',
      },
      pagerOf(place, listed, path, query),
    ],
  };
}

/** One collection with its texts, phases and files, as names only. Throws `mint_unknown`. */
export async function collectionSheet(pool: pg.Pool, id: string): Promise<ConsoleSheet> {
  const collection = await readCollection(pool, id);
  if (collection === null) throw unknownMint(id);
  const [phases, counts, files] = [
    await readListedPhases(pool, id),
    await countFiles(pool, id),
    await readFiles(pool, id, { after: null, limit: filesShown }),
  ];
  return {
    title: `Collection ${id}`,
    parts: [
      factsOf(collection),
      { kind: 'actions', actions: actionsOf(collection) },
      { kind: 'heading', words: 'Phases' },
      {
        kind: 'table',
        label: 'Phases',
        columns: ['Phase', 'Open to', 'Begins (UTC)', 'Ends (UTC)', 'Items', 'Taken', 'Price (sats)'],
        rows: phases.map(
          ({ phase, isPublic, allowances, startsAt, endsAt, items, taken: of, price: own }) => [
            phase,
            isPublic ? 'everyone' : `${allowances} listed addresses`,
            startsAt,
            endsAt,
            items,
            of,
            Number(own ?? collection.price),
          ],
        ),
        empty: 'The collection has no phase.',
      },
      { kind: 'heading', words: 'Files' },
      {
        kind: 'words',
        words: [`${counts.files} files, ${counts.stored} of them stored. The first ${filesShown}:`],
      },
      {
        kind: 'table',
        label: 'Files',
        columns: ['Place', 'Name', 'Bytes', 'Type', 'URL'],
        rows: files.map(({ place, name: of, url, stored, toldBytes }) => [
          place + 1,
          of,
          stored?.bytes ?? toldBytes,
          stored?.mediaType ?? 'not stored yet',
          url,
        ]),
        empty: 'The collection has no file.',
      },
    ],
  };
}

function factsOf(collection: Collection): ConsolePart {
  const { name, state, totalCount, taken, unpaid, price, creatorAddress, shown, createdAt } = collection;
  return {
    kind: 'facts',
    facts: [
      ['Name', name],
      ['State', state],
      ['Reason', collection.reason],
      ['Items', totalCount],
      ['Sold', taken - unpaid],
      ['Unpaid', unpaid],
      ['Price (sats)', Number(price)],
      ['Creator is paid at', creatorAddress],
      ['Sent (UTC)', createdAt],
      ['Decided (UTC)', collection.decidedAt],
      ...Object.entries(shown).map(([key, text]): [string, string | null] => [
        key,
        text === null ? null : String(text),
      ]),
    ],
  };
}

function actionsOf({ id, state }: Collection): ConsoleLink[] {
  if (state === 'approved') return [{ words: 'Close the sale', href: actionHref('mint-close', { id }) }];
  if (state !== 'pending') return [];
  return [
    { words: 'Approve', href: actionHref('mint-approve', { id }) },
    { words: 'Refuse', href: actionHref('mint-refuse', { id }) },
  ];
}
