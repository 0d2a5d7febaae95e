import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { testFilters } from './conformance-filters.ts';
import { testPages } from './conformance-pages.ts';
import { ConformanceSubject, type EngineUnderTest } from './conformance-subject.ts';
import { testSubstrings } from './conformance-substrings.ts';
import { testWords } from './conformance-words.ts';
import { chain } from './search-corpora.ts';
import { type QuestionSeed, questionOf, questionSeed, sliceOf } from './search-questions.ts';
import { createSearchRows } from './search-rows.ts';

/** Checks queries about the current rows: pages and counts. */
async function ask(subject: ConformanceSubject, seeds: readonly QuestionSeed[]): Promise<void> {
  const { inscriptions } = subject.rows;
  for (const [index, seed] of seeds.entries()) {
    const question = questionOf(seed, inscriptions);
    if (question === null) continue;
    await subject.expectPage(question, sliceOf(seed, inscriptions));
    if (index % 3 === 0) await subject.expectFacets(question);
  }
}

type CreateEngine = (pool: pg.Pool) => Promise<EngineUnderTest> | EngineUnderTest;

/**
 * The tests that every engine must pass. Results must equal those of a scan, whatever the state of the engine's own
 * index.
 *
 * @param chains number of random chains that are searched completely, if the run is not a long one
 */
export function describeSearchEngine(name: string, create: CreateEngine, chains = 3): void {
  describeSubject(name, create, (current) => {
    testRandomChains(current, chains);
    testSubstrings(current);
    testPages(current);
    testWords(current);
    testFilters(current);
  });
}

/** Runs only the random chains of these tests. It is for code around an engine that passes all tests elsewhere. */
export function describeRandomSearches(name: string, create: CreateEngine, chains: number): void {
  describeSubject(name, create, (current) => testRandomChains(current, chains));
}

function describeSubject(
  name: string,
  create: CreateEngine,
  defineTests: (current: () => ConformanceSubject) => void,
): void {
  describe(`${name}: searches`, () => {
    let database: TestDatabase;
    let subject: ConformanceSubject;

    beforeAll(async () => {
      database = await createTestDatabase();
      const rows = await createSearchRows(database.pool);
      subject = new ConformanceSubject(database.pool, rows, await create(database.pool));
    });

    afterAll(async () => {
      await subject?.close();
      await database?.drop();
    });

    defineTests(() => subject);
  });
}

function testRandomChains(current: () => ConformanceSubject, chains: number): void {
  test('equal a scan of everything, however much is taken up, and after going back', async () => {
    const subject = current();
    await fc.assert(
      fc.asyncProperty(
        chain,
        fc.array(questionSeed, { minLength: 15, maxLength: 25 }),
        fc.nat(),
        async (blocks, seeds, cut) => {
          await subject.clear();
          for (const [height, { inscriptions, time }] of blocks.entries()) {
            await subject.addBlock(inscriptions, time);
            if (height === 0) await ask(subject, seeds);
            // each block except the last is indexed separately, which makes many parts, which are then merged
            if (height < blocks.length - 1) await subject.takeUp();
          }
          await ask(subject, seeds);
          await subject.takeUp();
          await ask(subject, seeds);
          await subject.undoAbove((cut % blocks.length) - 1);
          await ask(subject, seeds);
          for (const { inscriptions, time } of blocks.toReversed())
            await subject.addBlock(inscriptions, time);
          await ask(subject, seeds);
          await subject.takeUp();
          await ask(subject, seeds);
        },
      ),
      propertyBounds(chains),
    );
  });
}
