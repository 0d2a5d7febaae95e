import { countMatching } from '#chain/inscriptions/inscription-count.queries.ts';
import { keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import type { HashSearch, TextQuestion } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { finds } from '#search/text/text-question.ts';

/** The search that a watch saves. */
export interface SearchSubject {
  /** Null: the filter alone decides. */
  readonly question: TextQuestion | Pick<HashSearch, 'hash'> | null;
  readonly filter: SearchFilter;
}

/** Number of blocks that are counted: a week. */
const recentBlocks = 1_008;
/**
 * Maximum number of matches in these blocks, whatever their share. A saved search with fewer matches has one in ten
 * minutes, which is a bearable number of messages.
 */
const matchesMax = 1_000;
/** Maximum share of the matches. A program that wants more is better served by the events of all blocks. */
const shareMax = 0.05;

/**
 * Refuses a search that matches nearly everything. Throws `watch_too_broad` with the number of its matches in the last
 * blocks. Throws the errors of a search.
 */
export async function refuseTooBroad(
  { pool, search }: Pick<AppDependencies, 'pool' | 'search'>,
  subject: SearchSubject | null,
  asker: Asker,
): Promise<void> {
  if (subject === null) return;
  const recent = await withSnapshot(
    pool,
    async ({ client, tip }) => {
      if (tip === null) return null;
      const from = asHeight(Math.max(0, tip.height - recentBlocks + 1));
      const { first, end } = await keysOfHeights(client, { from });
      const inscriptions = first === null || end === null ? 0 : end - first;
      const most = Math.max(matchesMax, Math.floor(inscriptions * shareMax));
      // so few inscriptions cannot have too many matches
      if (inscriptions <= matchesMax) return null;
      const counted = isSearchable(subject)
        ? null
        : await countMatching(client, { ...subject.filter, from }, most + 1);
      return { from, inscriptions, most, counted };
    },
    asker.signal,
  );
  if (recent === null) return;
  const matches = recent.counted ?? (await countBySearch(search, subject, recent.from, asker));
  if (matches <= recent.most) return;
  const least = recent.counted === null ? '' : 'at least ';
  throw new AppError(
    'watch_too_broad',
    `this search matches ${least}${matches} of the ${recent.inscriptions} inscriptions of the last ${recentBlocks} blocks, but at most ${recent.most} are allowed; add a text, a filter or whole words`,
    { matches, inscriptions: recent.inscriptions },
  );
}

const isSearchable = ({ question, filter }: SearchSubject): boolean => question !== null || finds(filter);

/** The exact number of matches from a height on. */
async function countBySearch(
  search: AppDependencies['search'],
  { question, filter }: SearchSubject,
  from: Height,
  asker: Asker,
): Promise<number> {
  const paging = { page: 1, itemsPerPage: 1, filter: { ...filter, from }, asker };
  const answer =
    question !== null && 'hash' in question
      ? await search.hashSearch({ ...question, ...paging })
      : await search.textSearch({ ...(question ?? { corpus: 'metadata', phrase: false }), ...paging });
  return answer.value.totalItems;
}
