import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ArrivedInscription,
  readArrivedInscriptions,
} from '#chain/arrivals/arrived-inscriptions.queries.ts';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { foldText } from '#kernel/text/fold.ts';
import { wordsOf } from '#search/text/words.ts';
import { fillProperties } from '#test/support/chain/rows/property-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { type NaiveQuestion, naiveSearch } from '#test/support/search/naive-search.ts';
import { chain } from '#test/support/search/search-corpora.ts';
import { questionOf, questionSeed } from '#test/support/search/search-questions.ts';
import { createSearchRows, type SearchRows } from '#test/support/search/search-rows.ts';
import { decideWords, WatchIndex } from '#watches/matching/watch-index.ts';
import type { SearchCondition } from '#watches/reading/watch-condition.ts';

let database: TestDatabase;
let rows: SearchRows;
beforeAll(async () => {
  database = await createTestDatabase();
  rows = await createSearchRows(database.pool);
});
afterAll(() => database.drop());

/** Whether all texts of a filter are valid. Others are refused, and match nothing. */
function isWellFormed({
  contentType,
  metaprotocol,
  title,
  metadata = {},
  traits = [],
}: SearchFilter): boolean {
  const texts = [contentType, metaprotocol, title, metadata.key, metadata.value];
  const ofTraits = traits.flatMap(({ name, value }) => [name, value]);
  return [...texts, ...ofTraits].every((text) => text?.isWellFormed() !== false);
}

/** The condition of a saved search. Null: the question cannot be saved. */
function conditionOf(question: NaiveQuestion): SearchCondition | null {
  const { from, to, ...filter } = question.filter ?? {};
  if (from !== undefined || to !== undefined || !isWellFormed(filter)) return null;
  if ('hash' in question) {
    const hash = Buffer.from(question.hash).toString('hex');
    return { corpus: 'content', match: 'substring', needles: [], hash, filter };
  }
  const { corpus, match, needles } = question;
  if (match === 'fuzzy' || !needles.every((needle) => needle.isWellFormed())) return null;
  const folded = match === 'words' ? needles.flatMap(wordsOf) : needles.map(foldText);
  const hasFilter = Object.keys(filter).some((name) => name !== 'cursed');
  if (folded.length === 0 && (match === 'words' || !hasFilter)) return null;
  return { corpus, match, needles: [...new Set(folded)], hash: null, filter };
}

async function arrived(): Promise<ArrivedInscription[]> {
  return withTransaction(database.pool, async (client) => {
    const all: ArrivedInscription[] = [];
    for await (const page of readArrivedInscriptions(
      client,
      { first: 0, next: rows.inscriptions.length },
      true,
    ))
      all.push(...page);
    return all;
  });
}

function resultOf<Result>(work: Generator<void, Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** The keys that each condition matches. */
function matchesOf(
  conditions: readonly SearchCondition[],
  inscriptions: readonly ArrivedInscription[],
): number[][] {
  const matches = conditions.map((): number[] => []);
  const index = new WatchIndex(conditions.map((search, watch) => ({ watch, search })));
  for (const [key, inscription] of inscriptions.entries()) {
    const undecided = index.match(inscription, (watch) => matches[watch]?.push(key));
    for (const words of undecided)
      for (const watch of resultOf(decideWords(words))) matches[watch]?.push(key);
  }
  return matches;
}

test('all searches together find the same inscriptions as a scan for each search', async () => {
  let compared = 0;
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      chain,
      fc.array(questionSeed, { minLength: 60, maxLength: 100 }),
      async (blocks, seeds) => {
        await rows.clear();
        for (const { inscriptions, time } of blocks) await rows.addBlock(inscriptions, time);
        await fillProperties(database.pool);
        const questions = seeds.flatMap((seed) => questionOf(seed, rows.inscriptions) ?? []);
        const asked = questions.flatMap((question) => {
          const search = conditionOf(question);
          return search === null ? [] : [{ question, search }];
        });
        const matches = matchesOf(
          asked.map(({ search }) => search),
          await arrived(),
        );
        for (const [nth, { question }] of asked.entries()) {
          const { keys } = naiveSearch(rows.inscriptions, question, { page: 1, itemsPerPage: 1000 });
          expect(matches[nth], JSON.stringify(question)).toEqual(keys);
          compared++;
          found += keys.length;
        }
      },
    ),
    propertyBounds(20),
  );
  expect(compared).toBeGreaterThan(100);
  expect(found).toBeGreaterThan(100);
});
