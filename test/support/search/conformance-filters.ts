import { test } from 'vitest';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import type { ConformanceSubject } from './conformance-subject.ts';
import type { NaiveQuestion } from './naive-search.ts';
import { needsNoNeedle } from './search-questions.ts';
import { type TestInscription, testId, text } from './search-rows.ts';

const everything = { page: 1, itemsPerPage: 1000 };
const day = 86_400;

const properties = (title: string, edition: number): string =>
  `{"gallery":[],"attributes":{"title":${JSON.stringify(title)},"traits":{"Edition":${edition},"big":9223372036854775807}}}`;

/** Titles and traits that are exactly as long as searches read, or longer. */
function longProperties(key: number): string {
  const title = `${'x'.repeat(996 + (key % 4))}\u{1f600}end`;
  const traits = Array.from({ length: 255 + (key % 3) }, (_, at) => `"T${at}":"V"`);
  return `{"gallery":[],"attributes":{"title":"${title}","traits":{${traits.join(',')}}}}`;
}

/** An inscription that filters can find in many combinations. */
function manySided(key: number): TestInscription {
  return {
    content: text(`copy ${key % 50 === 3 ? key : key % 4}`),
    metadata: `{"Edition":${key % 5},"of":[9007199254740993,{"deep":"${key % 3}","deep":"twice"}]}`,
    contentType: ['text/plain', 'text/html;charset=utf-8', 'image/svg+xml', null][key % 4]!,
    numbered: key % 7 === 0 ? 'cursed' : key % 11 === 0 ? 'unknown' : 'blessed',
    metaprotocol: key % 6 === 0 ? 'brc-20' : null,
    parents: key % 5 === 0 ? [2] : [],
    properties:
      key % 9 === 0 ? properties(`Título ${key % 2}`, key % 4) : key % 31 === 0 ? longProperties(key) : null,
  };
}

function ofManyTypes(at: number): TestInscription {
  // types with equal counts, astral characters that sort below others by UTF-16 units, and more types than a list shows
  const type = at % 3 === 0 ? `text/${at % 2 === 0 ? '\u{10000}' : '\uffff'}${at}` : `text/${at % 40}`;
  const long = `x/${'y'.repeat(at === 1 ? 510 : 511)}`;
  return {
    content: text(`copy ${at % 10}`),
    metadata: null,
    contentType: at < 3 ? [null, long, 'a/\xff'][at]! : Buffer.from(type).toString('latin1'),
  };
}

const filters: SearchFilter[] = [
  { contentType: 'text/plain' },
  { contentType: 'text/*' },
  { contentType: 'image/*', cursed: true },
  { contentType: 'text/Plain' },
  { from: asHeight(1), to: asHeight(2) },
  { from: asHeight(3), to: asHeight(2) },
  { to: genesisHeight, cursed: false },
  { from: asHeight(2 ** 31 - 1) },
  { metaprotocol: 'brc-20' },
  { metaprotocol: 'BRC-20' },
  { parent: testId(2) },
  { parent: testId(2), from: asHeight(3), contentType: 'image/*' },
  { parent: { txid: asTxid(Buffer.alloc(32, 7)), index: 0 } },
  { title: 'TÍTULO 1' },
  { title: 'ulo' },
  { title: 'xx' },
  { title: '\u{1f600}' },
  { title: '\u{1f600}e' },
  { title: 'end' },
  { title: '\ud83d' },
  { traits: [{ name: 't254', value: 'v' }] },
  { traits: [{ name: 't255', value: 'v' }] },
  { traits: [{ name: 't1', value: '\ud83d' }] },
  { traits: [{ name: 'edition', value: '3' }] },
  {
    traits: [
      { name: 'edition', value: '0' },
      { name: 'BIG', value: '9223372036854775807' },
    ],
  },
  { traits: [{ name: 'big', value: '9223372036854775808' }] },
  { metadata: { key: 'EDITION', value: '3' } },
  { metadata: { key: 'deep', value: 'TWICE' } },
  { metadata: { key: 'deep', value: '2' }, cursed: true },
  { metadata: { value: '9007199254740993' }, contentType: 'text/plain' },
  { metadata: { value: '9007199254740992' } },
  { metadata: { key: 'of' } },
];

/** Tests filters and counts, with many and with few matches. */
export function testFilters(subject: () => ConformanceSubject): void {
  const question = (needle: string, filter: SearchFilter): NaiveQuestion => ({
    corpus: 'content',
    match: 'substring',
    needles: needle === '' ? [] : [needle],
    filter,
  });

  test('leave only the inscriptions that a filter asks for, of many matches and of few', async () => {
    await subject().clear();
    for (let height = 0; height < 4; height++) {
      await subject().addBlock(Array.from({ length: 150 }, (_, at) => manySided(height * 150 + at)));
      if (height < 3) await subject().takeUp();
    }
    for (const state of ['committed', 'taken up', 'taken back']) {
      if (state === 'taken up') await subject().takeUp();
      if (state === 'taken back') await subject().undoAbove(1);
      for (const filter of filters) {
        await subject().expectPage(question('copy', filter), { page: 2, itemsPerPage: 40 });
        await subject().expectPage(question('copy 3', filter), everything);
        await subject().expectPage({ ...question('of', filter), corpus: 'metadata' } as NaiveQuestion, {
          ...everything,
          order: 'desc',
        });
        if (needsNoNeedle(filter)) await subject().expectPage(question('', filter), everything);
        await subject().expectFacets(question('copy', filter));
      }
    }
  });

  test('know the cursed ones without a number, before the jubilee and from it on', async () => {
    await subject().clear();
    const block = Array.from({ length: 60 }, (_, at): TestInscription => {
      const numbered = (['unknown', 'unknown', 'blessed', 'cursed'] as const)[at % 4]!;
      const curse = [null, 0, 9][at % 3]!;
      return { content: text(`copy ${at % 2}`), metadata: '{"of":1}', numbered, curse };
    });
    for (let height = 0; height < 112; height++) {
      await subject().addBlock([0, 1, 109, 110, 111].includes(height) ? block : []);
      if (height === 1 || height === 110) await subject().takeUp();
    }
    for (const state of ['committed', 'taken up', 'taken back']) {
      if (state === 'taken up') await subject().takeUp();
      if (state === 'taken back') await subject().undoAbove(109);
      for (const cursed of [true, false]) {
        await subject().expectPage(question('copy', { cursed }), everything);
        await subject().expectPage(question('copy 1', { cursed, to: asHeight(109) }), {
          ...everything,
          sort: 'number',
        });
        await subject().expectPage(question('copy', { cursed, from: asHeight(110) }), {
          ...everything,
          order: 'desc',
        });
        await subject().expectFacets(question('copy', { cursed }));
      }
      await subject().expectPage(question('copy', {}), { ...everything, sort: 'number', order: 'desc' });
    }
  });

  test('count by type and day: the most first, no more than fifty, and days that come back', async () => {
    await subject().clear();
    const times = [5 * day - 1, 5 * day, 4 * day, 5 * day + 7, 20 * day, 5 * day - 1, 2 ** 32 - 1];
    for (const [height, time] of times.entries()) {
      await subject().addBlock(
        Array.from({ length: 90 }, (_, at) => ofManyTypes(at)),
        time,
      );
      if (height % 3 === 1) await subject().takeUp();
    }
    for (const state of ['committed', 'taken up', 'taken back']) {
      if (state === 'taken up') await subject().takeUp();
      if (state === 'taken back') await subject().undoAbove(3);
      for (const needle of ['copy', 'copy 1', 'copy 0', 'nothing']) {
        await subject().expectFacets({ corpus: 'content', match: 'substring', needles: [needle] });
      }
    }
    // the same heights again, with other days
    for (const time of [9 * day, 4 * day]) {
      await subject().addBlock([{ content: text('copy again'), metadata: null }], time);
      await subject().expectFacets({ corpus: 'content', match: 'substring', needles: ['copy'] });
    }
    await subject().takeUp();
    await subject().expectFacets({ corpus: 'content', match: 'substring', needles: ['copy'] });
    await subject().clear();
    await subject().expectFacets({ corpus: 'content', match: 'substring', needles: ['copy'] });
  });
}
