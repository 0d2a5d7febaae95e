import { expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { ConformanceSubject } from './conformance-subject.ts';
import { fragments } from './search-corpora.ts';
import { text } from './search-rows.ts';

/** Tests needles of every kind and length. */
export function testSubstrings(subject: () => ConformanceSubject): void {
  test('find needles of one to four code points of every kind, each alone and as it is', async () => {
    await subject().clear();
    const texts = fragments.flatMap((one, index) => [
      one,
      `${one}${fragments[(index * 7 + 3) % fragments.length]}${one}`,
      `x${fragments[(index * 5 + 1) % fragments.length]}${one}y`,
    ]);
    await subject().addBlock(
      texts.map((value) => ({ content: text(value), metadata: JSON.stringify(value) })),
    );
    for (const state of ['committed', 'taken up']) {
      if (state === 'taken up') await subject().takeUp();
      for (const needle of fragments) {
        await subject().expectNaive('content', [needle]);
        await subject().expectNaive('metadata', [needle]);
      }
    }
  });

  test('find the longest needles, and many at once', async () => {
    await subject().clear();
    const long = Array.from({ length: 1500 }, (_, index) => fragments[(index * 31) % fragments.length]!).join(
      '',
    );
    const points = Array.from(long);
    await subject().addBlock([
      { content: text(long), metadata: null },
      { content: text('a'.repeat(5000)), metadata: null },
      { content: text(`${'a'.repeat(999)}b`), metadata: null },
    ]);
    for (const state of ['committed', 'taken up']) {
      if (state === 'taken up') await subject().takeUp();
      await subject().expectNaive('content', [points.slice(100, 1100).join('')]);
      await subject().expectNaive('content', ['a'.repeat(1000)]);
      await subject().expectNaive('content', [`${'a'.repeat(999)}B`]);
      await subject().expectNaive(
        'content',
        Array.from({ length: 32 }, (_, index) => points.slice(index, index + 40).join('')),
      );
      await subject().expectNaive(
        'content',
        Array.from({ length: 32 }, (_, index) => 'a'.repeat(index + 1)),
      );
      await subject().expectNaive('content', [
        ...Array.from({ length: 31 }, (_, index) => 'a'.repeat(index + 1)),
        'b',
      ]);
    }
  });

  test('find needles at the ends of long texts, across their whole length, but no longer ones', async () => {
    await subject().clear();
    const odd = fragments.join('');
    // texts of 150 kB and 2 MB, in UTF-8
    const texts = [
      `first!${'lorem 😀 ipsum '.repeat(10_000)}last?`,
      `ÄÖ${odd.repeat(8000)}😁`,
      'a'.repeat(100_001),
      'ab',
      'b',
      '',
      '😀',
      '\0',
    ];
    await subject().addBlock(texts.map((value) => ({ content: text(value), metadata: null })));
    await subject().takeUp();
    for (const needle of [
      'first!l',
      'f',
      'fi',
      'last?',
      't?',
      '?',
      ' last?',
      'last?x',
      'xfirst!',
      'äö',
      'äöA',
      '😁',
      'brc-20😁',
      'lorem 😀 ipsum '.repeat(66),
      'a'.repeat(1000),
      `${'a'.repeat(999)}b`,
      'ab',
      'abc',
      'b',
      'ba',
      '😀',
      '😀😀',
      '\u2400',
      '\0\0',
      '\0\0\0',
    ]) {
      await subject().expectNaive('content', [needle]);
    }
    await subject().expectNaive('content', ['first!', 'last?', '😀']);
    await subject().expectNaive('content', ['a', 'b']);
  });

  test('find nothing for a needle with half of a surrogate pair, and in an empty index', async () => {
    await subject().clear();
    await subject().expectNaive('content', ['a']);
    await subject().addBlock([{ content: text('😀 \ufffd'), metadata: null }]);
    await subject().takeUp();
    for (const needle of ['\ud83d', '\ude00', '\ud83d ', 'a\ud83d']) {
      const found = await withSnapshot(
        subject().pool,
        (snapshot) =>
          subject().engine.searchText(snapshot, {
            corpus: 'content',
            needles: [needle],
            page: 1,
            itemsPerPage: 10,
          }),
        null,
      );
      expect(found.totalItems).toBe(0);
    }
  });
}
