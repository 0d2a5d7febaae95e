import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { choosePhrases, usualPhrases } from '#search/sync/phrase-choice.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createSearchRows, type SearchRows, text } from '#test/support/search/search-rows.ts';

let database: TestDatabase;
let rows: SearchRows;
const { signal } = new AbortController();

beforeAll(async () => {
  database = await createTestDatabase();
  rows = await createSearchRows(database.pool);
});
afterAll(() => database?.drop());
beforeEach(() => rows.clear());

const choose = async (): Promise<readonly string[]> => {
  const client = await connectClient(database.url);
  try {
    return await choosePhrases(client, signal);
  } finally {
    await client.end();
  }
};

test('of nothing, and of few texts, the usual ones of mainnet', async () => {
  expect(await choose()).toEqual(usualPhrases);
  await rows.addBlock(
    Array.from({ length: 100 }, (_, at) => ({ content: text(`a phrase of its own ${at}`), metadata: null })),
  );
  expect(await choose()).toEqual(usualPhrases);
  expect(PhraseBook.tryOf(usualPhrases)).not.toBeNull();
});

test('of many, what they share, in letters of either case', async () => {
  await rows.addBlock(
    Array.from({ length: 2000 }, (_, at) => ({
      content: at % 3 === 0 ? text(`A Phrase Of Its Own ${at * 7919}`) : text(`${at * 104_729}.somewhere`),
      metadata: null,
    })),
  );
  const chosen = await choose();
  expect(chosen.join()).toContain('a phrase of its own ');
  expect(chosen.join()).toContain('.somewhere');
});
