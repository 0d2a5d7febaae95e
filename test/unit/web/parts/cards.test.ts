import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { html } from '#web/html.ts';
import { cardList, marked } from '#web/parts/cards.ts';

const piece = (text: string, ...matches: [start: number, end: number][]) => ({
  text,
  offset: 0,
  matches: matches.map(([start, end]) => ({ start, end })),
});
const shown = (...pieces: Parameters<typeof marked>[0]): string => html`${marked(pieces)}`.text;

describe('marked', () => {
  test('marks matches, and escapes everything', () => {
    expect(shown(piece('<b> <i>', [4, 7]))).toBe('&lt;b&gt; <mark>&lt;i&gt;</mark>');
    expect(shown(piece('a.b axb', [0, 1], [4, 5]))).toBe('<mark>a</mark>.b <mark>a</mark>xb');
  });

  test('says that a text begins before a piece', () => {
    expect(shown({ ...piece('b', [0, 1]), offset: 9 }, piece('c'))).toBe('…<mark>b</mark>…c');
  });

  test('shows only as much as a card has room for, and divides no character', () => {
    const long = shown(piece(`${'x'.repeat(319)}😀${'y'.repeat(1000)}`, [300, 1200]));
    expect(long).toBe(`${'x'.repeat(300)}<mark>${'x'.repeat(19)}</mark>`);
    expect(shown(piece('a'), piece('a'), piece('a'), piece('a'))).toBe('a…a…a');
  });
});

describe('cardList', () => {
  const card = { id: `${'a'.repeat(64)}i0`, number: null, height: asHeight(1), sizeBytes: 5, text: null };

  test('shows matches in place of the beginning of a text, and below other contents', () => {
    const found = { where: 'content', pieces: [piece('the needle', [4, 10])] } as const;
    const text = cardList([{ ...card, contentType: 'text/plain', text: 'beginning', found }]).text;
    expect(text).toContain('<span class="snippet">the <mark>needle</mark></span>');
    expect(text).not.toContain('beginning');
    const page = cardList([{ ...card, contentType: 'text/html', text: 'beginning', found }]).text;
    expect(page).toContain('class="badge"');
    expect(page).toContain('<span class="found">the <mark>needle</mark></span>');
    const inMetadata = { ...found, where: 'metadata' } as const;
    const other = cardList([
      { ...card, contentType: 'text/plain', text: 'beginning', found: inMetadata },
    ]).text;
    expect(other).toContain('beginning');
    expect(other).toContain('<span class="found">the <mark>needle</mark></span>');
  });

  test('shows a text as text', () => {
    const list = cardList([{ ...card, contentType: 'text/plain', text: '<hi>' }]).text;
    expect(list).toContain('&lt;hi&gt;');
    expect(list).not.toContain('<iframe');
  });

  test('says how many others have an equal content', () => {
    const copies = { count: 14, isLeast: false, href: '/?hash=ab' };
    const list = cardList([{ ...card, contentType: 'text/plain', text: 'a', copies }]).text;
    expect(list).toContain('<a class="copies" href="/?hash=ab"');
    expect(list).toContain('>×14</a>');
    const more = { ...copies, count: 1000, isLeast: true };
    expect(cardList([{ ...card, contentType: null, copies: more }]).text).toContain('>×1,000+</a>');
  });
});
