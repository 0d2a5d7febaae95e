import type { FastifyReply } from 'fastify';
import { inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import {
  type ContentCopies,
  contentCopies,
  copiesCountedMax,
  withoutCopies,
} from '#chain/inscriptions/content-copies.queries.ts';
import type { InscriptionKind } from '#chain/inscriptions/inscription-filter.ts';
import { candidatesMax } from '#chain/inscriptions/inscription-list.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import {
  choice,
  filterOf,
  filterQuery,
  type ListQuery,
  type Paging,
  pagingOf,
} from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { grouped } from '#web/format.ts';
import { inscriptionListPage } from '#web/pages/inscription-list.page.ts';
import type { Copies } from '#web/parts/cards.ts';
import type { ListChoice } from '#web/parts/choices.ts';
import { kindChoices } from './kind-choices.ts';
import { readList, refusePage } from './read-list.ts';

/**
 * Maximum number of cards on a page. Together with the page's own files they need fewer than 60 requests. 48 cards fill
 * rows of two, three, four and six.
 */
const cardsMax = 48;
/**
 * Maximum number of inscriptions that are read for a page. It is higher than the number of cards. Inscriptions with
 * equal contents, such as mints, often follow each other, and share one card.
 */
const readMax = 8 * cardsMax;

const sortNames = { newest: 'Newest', oldest: 'Oldest', number: 'Number', size: 'Size' } as const;
type Sort = keyof typeof sortNames;
const sorts = Object.keys(sortNames) as Sort[];

/**
 * Sends the list of all inscriptions as a page. Token operations are hidden by default. Equal contents are shown once
 * per page.
 */
export async function sendInscriptionList(
  deps: AppDependencies,
  reply: FastifyReply,
  query: ListQuery,
  page: number,
): Promise<FastifyReply> {
  const sort = sortOf(query);
  // hide nothing if the page has a number, because page numbers count the pages of ord's complete list
  const wanted = choice(query.tokens, 'tokens', ['show', 'hide']);
  const isHiding = wanted !== 'show' && query.metaprotocol === undefined && page === 0;
  const tokens = isHiding ? { tokens: 'hide' } : {};
  const asked = filterOf({ ...query, ...tokens }, deps.network);
  const filter = sort === 'number' ? { ...asked, cursed: false } : asked;
  const paging: Paging = {
    ...pagingOf(query, 'desc'),
    order: sort === 'newest' || sort === 'size' ? 'desc' : 'asc',
    limit: readMax,
  };
  // a request may want fewer cards
  const shown = query.limit === undefined ? cardsMax : Math.min(pagingOf(query, 'desc').limit, cardsMax);
  refusePage(page, filter, paging);
  const isPaged = page > 0;
  return withSnapshot(
    deps.pool,
    async (snapshot) => {
      const listed = await readList(snapshot, {
        filter,
        paging: isPaged ? { ...paging, limit: shown } : paging,
        page,
        bySize: sort === 'size',
        shorten: (read) => (isPaged ? read : withoutCopies(read, shown)),
      });
      const { client, tip } = snapshot;
      const summaries = await inscriptionSummaries(
        client,
        // past the end, ord's JSON contains the first of all inscriptions again, but this page shows no card
        listed.isPastEnd ? [] : listed.inscriptions.map(({ key }) => key),
      );
      const copies = await contentCopies(
        client,
        summaries.flatMap(({ contentId }) => contentId ?? []),
      );
      const next = listed.nextCursor;
      return sendPage(
        reply,
        inscriptionListPage({
          site: siteOf(deps, tip),
          title: 'Inscriptions',
          description: `${kindSubjects[filter?.kind ?? 'all']} inscribed on Bitcoin, to sort and filter.`,
          heading: 'Inscriptions',
          ...choicesOf(query, sort, isHiding),
          filters: otherFilters(query),
          notes: sort === 'size' ? [`The largest of the newest ${grouped(candidatesMax)}.`] : [],
          cards: summaries.map((summary) => ({
            ...cardOf(summary),
            copies: copiesOf(summary.contentId === null ? undefined : copies.get(summary.contentId)),
          })),
          page: listed.page,
          first: listed.page > 0 ? linkTo(query, {}) : null,
          // after a page with a number, the cursor belongs to the complete list, which includes token operations
          next:
            next === null ? null : linkTo(query, { cursor: next, ...(isPaged ? { tokens: 'show' } : {}) }),
          empty: listed.isPastEnd
            ? 'This page is past the end.'
            : next === null
              ? 'No inscription matches.'
              : 'No match among the inscriptions checked so far. Later ones may match.',
        }),
        { thumbnails: true },
      );
    },
    askerOf(reply).signal,
  );
}

const kindSubjects: Readonly<Record<InscriptionKind | 'all', string>> = {
  all: 'Images, texts, documents, sounds and films',
  images: 'Images',
  html: 'HTML documents',
  text: 'Texts',
  json: 'JSON texts',
  audio: 'Sounds',
  video: 'Films',
};

/** Reads the order of the list. Throws `request_invalid`. */
function sortOf({ sort, order }: ListQuery): Sort {
  return choice(sort, 'sort', sorts) ?? (order === 'asc' ? 'oldest' : 'newest');
}

/**
 * A link to the list with other choices. A choice that is undefined is removed. The cursor is left out, because it is
 * valid for only one list.
 */
function linkTo(query: ListQuery, more: Readonly<Record<string, string | undefined>>): string {
  const { cursor: _cursor, order: _order, ...own } = query;
  const parameters = Object.entries({ ...own, sort: sortOf(query), ...more }).flatMap(([name, value]) =>
    value === undefined || (name === 'sort' && value === 'newest') ? [] : [[name, value] as [string, string]],
  );
  const search = new URLSearchParams(parameters).toString();
  return search === '' ? '/inscriptions' : `/inscriptions?${search}`;
}

interface Choices {
  readonly tabs: readonly ListChoice[];
  readonly sorts: readonly ListChoice[];
  readonly tokens: ListChoice;
}

function choicesOf(query: ListQuery, sort: Sort, isHiding: boolean): Choices {
  return {
    tabs: kindChoices(query.kind, (kind) => linkTo(query, { kind })),
    sorts: sorts.map((name) => ({
      words: sortNames[name],
      href: linkTo(query, { sort: name }),
      isCurrent: name === sort,
    })),
    tokens: {
      words: isHiding ? 'Show token operations' : 'Hide token operations',
      href: linkTo(query, { tokens: isHiding ? 'show' : undefined }),
      isCurrent: false,
    },
  };
}

/**
 * Names of filters that the page shows although it offers no choice for them. Other parameters are not shown as
 * filters.
 */
const shownFilters: ReadonlySet<string> = new Set([...Object.keys(filterQuery), 'address', 'delegate']);

const otherFilters = (query: ListQuery): [string, string][] =>
  Object.entries(query).flatMap(([name, value]) => (shownFilters.has(name) ? [[name, value]] : []));

function copiesOf(copies: ContentCopies | undefined): Copies | null {
  if (copies === undefined || copies.count < 2) return null;
  return {
    count: Math.min(copies.count, copiesCountedMax),
    isLeast: copies.count > copiesCountedMax,
    href: `/?hash=${Buffer.from(copies.sha256).toString('hex')}`,
  };
}
