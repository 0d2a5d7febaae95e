import { type Static, Type } from 'typebox';
import { blockTimes } from '#chain/blocks/block-times.queries.ts';
import { text } from '#http/parameters/list-parameters.ts';
import { matchOf, memberQuery, searchFilterOf, searchFilterQuery } from '#http/search/search-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { searches } from '#http/server/access/guard.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { SearchRecord } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { grouped } from '#web/format.ts';
import { mediaWords } from '#web/media.ts';
import { feedAnswer, feedEntries, feedId, sendFeed } from './send-feed.ts';

const mark = (description: string) => Type.Optional(Type.Literal('1', { description }));

/** Parameters of the feed. They equal those of the search page, so that a feed has the same query as its page. */
const feedQuery = Type.Object({
  text: text(
    'the text to search; with all=1 several texts, separated by commas',
    acceptedForms.text,
    'brc-20',
  ),
  in: text('the texts to search', { enum: ['content', 'metadata'] }, 'content'),
  all: mark('1: text is a list, separated by commas; all must occur'),
  words: mark('1: the text is a list of whole words, found in any order'),
  fuzzy: mark('1: like words, but each word may differ by a few edits'),
  ...searchFilterQuery,
  ...memberQuery,
});

/** Maximum number of characters of a content in a summary. Feed readers show the summary below the title. */
const summaryChars = 300;

/**
 * Route of `/search.atom`, a feed of the newest inscriptions that a search finds. The access rules are those of the
 * search.
 */
export function searchFeedRoutes(app: App, deps: AppDependencies): void {
  const { pool, search, network, publicOrigin = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/search.atom',
    schema: {
      operationId: 'searchFeed',
      summary: 'The newest inscriptions that a search finds, as an Atom feed',
      tags: ['feeds'],
      querystring: feedQuery,
      response: { 200: feedAnswer, 304: unchanged },
    },
    config: { errors: 'ownPage', guard: searches('search'), failures: [410], isDear: true },
    handler: async (request, reply) => {
      const { query } = request;
      if (query.text === undefined) throw new AppError('request_invalid', 'text is missing');
      const asker = askerOf(reply);
      const { match } = matchOf({ words: query.words, fuzzy: query.fuzzy });
      const filter = searchFilterOf(query);
      const { value } = await search.textSearch({
        corpus: query.in === 'metadata' ? 'metadata' : 'content',
        text: query.text,
        match,
        phrase: match === 'substring' && query.all !== '1',
        page: 1,
        itemsPerPage: feedEntries,
        order: 'desc',
        asker,
        ...(filter === undefined ? {} : { filter }),
      });
      const heights = value.records.flatMap((record) => heightOf(record) ?? []);
      const times = await withCutConnection(pool, asker.signal, (client) => blockTimes(client, heights));
      const parameters = new URLSearchParams(given(query)).toString();
      return sendFeed(request, reply, publicOrigin, {
        id: feedId(network.name, 'search', parameters),
        title: `Inscriptions with “${query.text}”`,
        page: `/?${parameters}`,
        entries: value.records.map((record) => ({
          id: feedId(network.name, 'inscription', record.inscriptionid),
          title: titleOf(record),
          href: `/inscription/${record.inscriptionid}`,
          // the time is unknown if the block was undone meanwhile; this is fine, because readers soon request the feed
          // again
          updated: times.get(heightOf(record) ?? asHeight(0)) ?? 0,
          summary: summaryOf(record),
        })),
      });
    },
  });
}

/** The given parameters in a fixed order. They identify the search. */
function given(query: Static<typeof feedQuery>): Record<string, string> {
  return Object.fromEntries(
    Object.keys(feedQuery.properties)
      .toSorted()
      .flatMap((name): [string, string][] => {
        const value = query[name as keyof typeof query];
        return value === undefined || value === '' ? [] : [[name, value]];
      }),
  );
}

const heightOf = ({ blockheight }: SearchRecord): Height | null =>
  blockheight === null ? null : asHeight(Number(blockheight));

function titleOf({ inscriptionid, inscriptionnumber, contenttypestr }: SearchRecord): string {
  const name =
    inscriptionnumber === null ? `Inscription ${inscriptionid}` : `#${grouped(Number(inscriptionnumber))}`;
  return `${name}, ${mediaWords(contenttypestr)}`;
}

function summaryOf({ contentstr, blockheight }: SearchRecord): string {
  if (contentstr !== null) return contentstr.slice(0, summaryChars);
  return blockheight === null ? 'in no block yet' : `inscribed in block ${grouped(Number(blockheight))}`;
}
