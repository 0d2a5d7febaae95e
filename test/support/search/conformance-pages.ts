import { createHash } from 'node:crypto';
import { test } from 'vitest';
import type { ConformanceSubject } from './conformance-subject.ts';
import { placeOf } from './naive-search.ts';
import { type TestInscription, text } from './search-rows.ts';

/** Tests pages of many matches, in every order. */
export function testPages(subject: () => ConformanceSubject): void {
  test('count and page tens of thousands of matches, however deep', async () => {
    await subject().clear();
    // runs of copies that are longer than any part of an index, with rare texts between the runs
    const inscriptionAt = (key: number): TestInscription => ({
      content: text(key % 1000 === 7 ? `rare ${key} copy` : `copy ${Math.floor(key / 700) % 5}`),
      metadata: key % 3 === 0 ? '{"every":"third"}' : null,
    });
    for (let height = 0; height < 3; height++) {
      await subject().addBlock(
        Array.from({ length: 4000 }, (_, index) => inscriptionAt(height * 4000 + index)),
      );
      if (height === 1) await subject().takeUp();
    }
    await subject().takeUp();
    for (const [page, itemsPerPage] of [
      [1, 1000],
      [2, 1000],
      [11, 1000],
      [12, 1000],
      [13, 1000],
      [120, 100],
      [77, 100],
      [3999, 3],
      [4001, 3],
      [1500, 7],
      [11_999, 1],
    ] as const) {
      await subject().expectNaive('content', ['copy'], page, itemsPerPage);
      await subject().expectNaive('content', ['copy 3'], page, itemsPerPage);
      await subject().expectNaive('metadata', ['third'], page, itemsPerPage);
      await subject().expectNaiveHash(createHash('sha256').update('copy 1').digest(), page, itemsPerPage);
    }
    // several needles, more matches than a page
    for (const [page, itemsPerPage] of [
      [1, 1000],
      [2, 100],
      [12, 100],
    ] as const)
      await subject().expectNaive('content', ['copy', 'py 3'], page, itemsPerPage);
    await subject().expectNaive('content', ['rare'], 12, 1);
    await subject().expectNaive('content', ['rare'], 4, 3);
  });

  test('answer pages of copies exactly, the first and the last and those past the end', async () => {
    await subject().clear();
    const copies = [text('one COPY'), text('another copy'), text('nothing')];
    for (let height = 0; height < 4; height++) {
      await subject().addBlock(
        Array.from({ length: 500 }, (_, index) => ({
          content: copies[(index * 7 + height) % 3]!,
          metadata: '{"a":"copy"}',
        })),
      );
      if (height === 2) await subject().takeUp();
    }
    for (const state of ['half', 'all']) {
      if (state === 'all') await subject().takeUp();
      for (const corpus of ['content', 'metadata'] as const) {
        for (const page of [1, 2, 3, 13, 14, 15, 2 ** 31 - 1])
          await subject().expectNaive(corpus, ['copy'], page, 100);
        await subject().expectNaive(corpus, ['copy', 'another'], 1, 1);
      }
      await subject().expectNaiveHash(createHash('sha256').update('nothing').digest(), 3, 100);
    }
  });

  test('sort by number and by length in both directions, page by page and from a place on', async () => {
    await subject().clear();
    for (let height = 0; height < 3; height++) {
      await subject().addBlock(
        Array.from({ length: 400 }, (_, at): TestInscription => {
          const key = height * 400 + at;
          return {
            content: key % 41 === 0 ? null : text(`copy${'!'.repeat((key * 7) % 13)}`),
            metadata: '{"every":"one"}',
            numbered: key % 11 === 0 ? 'cursed' : key % 17 === 0 ? 'unknown' : 'blessed',
          };
        }),
      );
      if (height < 2) await subject().takeUp();
    }
    for (const state of ['committed', 'taken up']) {
      if (state === 'taken up') await subject().takeUp();
      for (const sort of ['height', 'number', 'length'] as const) {
        for (const order of ['asc', 'desc'] as const) {
          for (const page of [1, 60, 118]) {
            const slice = { sort, order, page, itemsPerPage: 10 };
            await subject().expectPage({ corpus: 'content', match: 'substring', needles: ['copy'] }, slice);
            await subject().expectPage({ corpus: 'metadata', match: 'substring', needles: ['one'] }, slice);
          }
          for (const key of [0, 11, 1199]) {
            const after = placeOf(subject().rows.inscriptions[key]!);
            const slice = { sort, order, page: 1, itemsPerPage: 25, after };
            await subject().expectPage({ corpus: 'content', match: 'substring', needles: ['copy!'] }, slice);
            await subject().expectPage(
              { corpus: 'metadata', match: 'substring', needles: ['one'] },
              { ...slice, page: 3 },
            );
            // a position after which there is no inscription any more, as an undo may leave it
            const gone = { key: after.key + 1, number: after.number, length: after.length + 1 };
            await subject().expectPage(
              { corpus: 'content', match: 'substring', needles: ['copy'] },
              { ...slice, after: gone },
            );
          }
        }
      }
    }
  });
}
