import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Highlight } from '#kernel/contracts/search-service.ts';
import { foldCodePoint, foldText } from '#kernel/text/fold.ts';
import { Highlighter, highlightBytesOf, highlighted } from '#search/records/highlights.ts';

const marked = ({ text, matches }: Highlight): string[] =>
  matches.map(({ start, end }) => text.slice(start, end));
const found = (text: string, ...needles: string[]): Highlight[] =>
  new Highlighter({ match: 'substring', needles: needles.map(foldText) }).highlights(text);

test('folding never changes how many UTF-16 units a code point has', () => {
  const units = (codePoint: number): number => (codePoint > 0xffff ? 2 : 1);
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    if (units(foldCodePoint(codePoint)) !== units(codePoint)) throw new Error(codePoint.toString(16));
  }
});

describe('highlights of substrings', () => {
  test('are the text around the first match of each needle, with every match in it', () => {
    const text = `${'x'.repeat(200)} Ünï ünï ${'y'.repeat(200)} tail`;
    const [first, second, ...more] = found(text, 'ÜNÏ', 'tail');
    expect(more).toEqual([]);
    expect(first).toMatchObject({ offset: 201 - 80 });
    expect(marked(first!)).toEqual(['Ünï', 'ünï']);
    expect(marked(second!)).toEqual(['tail']);
    expect(text.slice(second!.offset, second!.offset + second!.text.length)).toBe(second!.text);
  });

  test('join what overlaps, and say nothing of needles that are not there', () => {
    expect(found('abcd', 'abc', 'bcd', 'zzz')).toEqual([
      { text: 'abcd', offset: 0, matches: [{ start: 0, end: 4 }] },
    ]);
    expect(found('', 'a')).toEqual([]);
  });

  test('divide no surrogate pair', () => {
    const [piece] = found(`${'😀'.repeat(60)}needle${'😀'.repeat(60)}`, 'needle');
    expect(piece!.text.isWellFormed()).toBe(true);
    expect(marked(piece!)).toEqual(['needle']);
  });

  test('are exact for whatever texts and needles', () => {
    const characters = fc.constantFrom(
      'a',
      'A',
      'ſ',
      's',
      'S',
      'K',
      'k',
      '😀',
      '𐐀',
      '𐐨',
      '\0',
      '␀',
      ' ',
      'é',
    );
    const string = fc.array(characters, { maxLength: 300 }).map((all) => all.join(''));
    const needle = fc.array(characters, { minLength: 1, maxLength: 3 }).map((all) => all.join(''));
    fc.assert(
      fc.property(string, fc.array(needle, { minLength: 1, maxLength: 3 }), (text, needles) => {
        const pieces = found(text, ...needles);
        const folded = foldText(text);
        const isMarked = new Set<number>();
        for (const { text: piece, offset, matches } of pieces) {
          expect(text.startsWith(piece, offset)).toBe(true);
          for (const { start, end } of matches) {
            for (let at = start; at < end; at++) isMarked.add(offset + at);
          }
        }
        const within = (start: number, end: number): boolean =>
          pieces.some(({ text: piece, offset }) => start >= offset && end <= offset + piece.length);
        const expected = new Set<number>();
        for (const one of needles.map(foldText)) {
          const first = folded.indexOf(one);
          if (first !== -1) expect(within(first, first + one.length)).toBe(true);
          for (let at = first; at !== -1; at = folded.indexOf(one, at + 1)) {
            if (!within(at, at + one.length)) continue;
            for (let unit = at; unit < at + one.length; unit++) expected.add(unit);
          }
        }
        expect(isMarked).toEqual(expected);
      }),
    );
  });
});

describe('highlights of words', () => {
  const words = (text: string, match: 'words' | 'fuzzy', ...needles: string[]): string[] =>
    new Highlighter({ match, needles }).highlights(text).flatMap(marked);

  test('are whole words alone', () => {
    expect(words('Deployed, deploy; redeploy. DEPLOY', 'words', 'deploy')).toEqual(['deploy', 'DEPLOY']);
    expect(words('ordi-ord', 'words', 'ord')).toEqual(['ord']);
  });

  test('of a fuzzy search are some edits away', () => {
    expect(words('Bitcion bitcoin bitc0in btcion', 'fuzzy', 'bitcoin')).toEqual([
      'Bitcion',
      'bitcoin',
      'bitc0in',
      'btcion',
    ]);
    expect(words('cat cut at', 'fuzzy', 'at')).toEqual(['at']);
  });

  test('are found in all texts of a page, however late they come', () => {
    const text = `${'lorem ipsum dolor '.repeat(4600)}ordi`;
    const highlighter = new Highlighter({ match: 'words', needles: ['ordi', 'lorem'] });
    for (let record = 0; record < 100; record++) expect(highlighter.highlights(text)).toHaveLength(2);
  });

  test('never take a piece of a word for a word', () => {
    // the shown piece ends 80 units after the match, in the middle of a long word
    const text = `ord ${' '.repeat(70)}ordinalsordinals`;
    expect(words(text, 'words', 'ord')).toEqual(['ord']);
    const long = `ord ${'o'.repeat(65)} ${'o'.repeat(64)}`;
    expect(words(long, 'words', 'o'.repeat(64))).toEqual(['o'.repeat(64)]);
  });
});

describe('records with highlights', () => {
  const record = {
    txid: '',
    inputindex: '0',
    inscriptionid: '',
    inscriptionnumber: null,
    blockheight: '1',
    contenttypestr: null,
    contenthash: null,
    contentlength: null,
    metadatastr: null,
    createdat: '',
  };
  const show = async (contentstr: string, match: 'substring' | 'words', read: number) => {
    const highlighter = new Highlighter({ match, needles: ['needle'] });
    const shown = { content: 10, metadata: 10 };
    const [first] = await highlighted([{ ...record, contentstr }], 'contentstr', highlighter, {
      read,
      shown,
    });
    return first!;
  };

  test('have what is found beyond what they show', async () => {
    const { contentstr, highlights } = await show(`${'–'.repeat(100)}needle`, 'substring', 1000);
    expect(contentstr).toBe('–––');
    expect(highlights!.flatMap(marked)).toEqual(['needle']);
  });

  test('leave out a word that may continue after the read part', async () => {
    expect((await show('a needle', 'words', 8)).highlights).toEqual([]);
    expect((await show('a needle', 'words', 1000)).highlights!.flatMap(marked)).toEqual(['needle']);
  });

  test('let others work between them', async () => {
    const turns: string[] = [];
    setImmediate(() => turns.push('others'));
    const records = [1, 2].map(() => ({ ...record, contentstr: 'needle' }));
    await highlighted(records, 'contentstr', new Highlighter({ match: 'words', needles: ['needle'] }), {
      read: 1000,
      shown: { content: 10, metadata: 10 },
    }).then(() => turns.push('records'));
    expect(turns).toEqual(['others', 'records']);
  });

  test('read as much of each text as a page has room for', () => {
    expect(highlightBytesOf(100)).toBe(83_886);
    expect(highlightBytesOf(1)).toBe(8_388_608);
  });
});
