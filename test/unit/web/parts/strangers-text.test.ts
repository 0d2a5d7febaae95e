import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { html } from '#web/html.ts';
import { runesPage } from '#web/pages/runes.page.ts';
import { cardList } from '#web/parts/cards.ts';
import { heldRunesTable } from '#web/parts/held-runes.ts';
import { typeCounts } from '#web/parts/search-filters.ts';
import { isolated, runeSymbol, strangersName } from '#web/parts/strangers-text.ts';

const shown = (symbol: string): string => html`${runeSymbol(symbol)}`.text;

test.each([
  ['a sign of ASCII', '$', '$'],
  ['a sign', '⧉', '<bdi>⧉</bdi>'],
  ['an emoji', '🐸', '<bdi>🐸</bdi>'],
  ['a letter from right to left', 'א', '<bdi>א</bdi>'],
  ['a mark above', '\u0301', '<bdi>◌\u0301</bdi>'],
  ['a mark around', '\u20dd', '<bdi>◌\u20dd</bdi>'],
  ['a mark of a script', '\u0e47', '<bdi>◌\u0e47</bdi>'],
  ['a selector', '\ufe0f', '<bdi>◌\ufe0f</bdi>'],
  ['a mark of direction', '\u202e', '<span class="faint">U+202E</span>'],
  ['a joiner', '\u200d', '<span class="faint">U+200D</span>'],
  ['a control', '\u001b', '<span class="faint">U+001B</span>'],
  ['NUL', '\0', '<span class="faint">U+0000</span>'],
  ['a blank', ' ', '<span class="faint">U+0020</span>'],
  ['a wide blank', '\u3000', '<span class="faint">U+3000</span>'],
  ['a letter that shows nothing', '\u3164', '<span class="faint">U+3164</span>'],
  ['one of private use', '\u{f0000}', '<span class="faint">U+F0000</span>'],
  ['markup', '<', '&lt;'],
])('a symbol that is %s', (_what, symbol, text) => {
  expect(shown(symbol)).toBe(text);
});

test('a text is isolated if it can change or join the text next to it', () => {
  const of = (text: string | null): string => html`${isolated(text)}`.text;
  expect(of(null)).toBe('');
  expect(of('text/plain; a="<b>"')).toBe('text/plain; a=&quot;&lt;b&gt;&quot;');
  expect(of('a\u202eb')).toBe('<bdi>a\u202eb</bdi>');
  expect(of('\u0301\u0302a<')).toBe('<bdi>◌\u0301\u0302a&lt;</bdi>');
});

test('a name is always isolated', () => {
  expect(strangersName('Frogs').text).toBe('<bdi>Frogs</bdi>');
  expect(strangersName('\u0301<').text).toBe('<bdi>◌\u0301&lt;</bdi>');
});

test.each(['\u200b\u200b', ' \u00a0', '\u3164', '\u2800', '\u202e', '\ufe0f', ''])(
  'an invisible name is replaced by words: %j',
  (name) => {
    expect(strangersName(name).text).toBe('<span class="faint">(blank)</span>');
  },
);

describe('texts of strangers within our lines', () => {
  const mark = '\u0301';
  const turned = 'image/\u202egnp';
  const site = { network: 'regtest', tipHeight: asHeight(1), banner: null };

  test('symbols of runes, in lists and next to amounts', () => {
    const rune = {
      name: 'AAA',
      symbol: mark,
      id: '1:1',
      number: 0,
      height: asHeight(1),
      mints: 0,
      cap: null,
      mintedPercent: null,
      isOpen: false,
    };
    const list = runesPage({
      site,
      runes: [rune],
      count: 1,
      countOfAll: 1,
      page: 1,
      totalPages: 1,
      sort: 'newest',
      isMinting: false,
      query: turned,
      prefix: null,
    }).text;
    expect(list).toContain(`>AAA</a> <bdi>◌${mark}</bdi></span></th>`);
    const held = heldRunesTable([{ name: 'AAA', amount: '5', symbol: mark }])?.text;
    expect(held).toContain(`5 <bdi>◌${mark}</bdi></td>`);
  });

  test('content types and texts on cards, and in counts', () => {
    const card = { id: `${'a'.repeat(64)}i0`, number: 1, height: asHeight(1), sizeBytes: 1 };
    const cards = cardList([
      { ...card, contentType: turned, text: null },
      { ...card, contentType: 'text/plain', text: `${mark}\u202ea` },
    ]).text;
    const pieces = [{ text: 'a\u202eb', offset: 0, matches: [{ start: 0, end: 1 }] }];
    const found = { where: 'metadata', pieces } as const;
    expect(cardList([{ ...card, contentType: null, text: null, found }]).text).toContain(
      '<span class="found"><bdi><mark>a</mark>\u202eb</bdi></span>',
    );
    expect(cards).toContain(`<bdi>${turned}</bdi>`);
    expect(cards).toContain(`<bdi>◌${mark}\u202ea</bdi>`);
    expect(typeCounts([{ contentType: turned, count: 1 }], 0, {})?.text).toContain(
      `<bdi>${turned}</bdi> <b>1</b>`,
    );
  });
});
