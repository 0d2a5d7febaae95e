import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardList, marked } from '#web/cards.ts';
import { html } from '#web/html.ts';

const shown = (text: string, needles: readonly string[]): string => html`${marked(text, needles)}`.text;

describe('marked', () => {
  test('marks every match, whatever its case', () => {
    expect(shown('Bitcoin bitCOIN', ['bitcoin'])).toBe('<mark>Bitcoin</mark> <mark>bitCOIN</mark>');
  });

  test('takes needles as they are, not as patterns', () => {
    expect(shown('a.b axb', ['a.b'])).toBe('<mark>a.b</mark> axb');
    expect(shown('(x', ['('])).toBe('<mark>(</mark>x');
  });

  test('prefers the longest needle', () => {
    expect(shown('abc', ['a', 'abc'])).toBe('<mark>abc</mark>');
  });

  test('escapes what it marks and what it does not', () => {
    expect(shown('<b> <i>', ['<i>'])).toBe('&lt;b&gt; <mark>&lt;i&gt;</mark>');
  });

  test('shows a piece around a match that is far away', () => {
    const text = `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`;
    const piece = shown(text, ['needle']);
    expect(piece).toMatch(/^…x{60}<mark>needle<\/mark>y+…$/u);
    expect(piece.length).toBeLessThan(400);
  });

  test('never throws and never divides a character', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 2_000 });
    fc.assert(
      fc.property(text, fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (whole, needles) => {
        expect(shown(whole, needles).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('cardList', () => {
  const card = { id: `${'a'.repeat(64)}i0`, number: null, height: 1, sizeBytes: 5, text: null };

  test('shows a text as text', () => {
    const list = cardList([{ ...card, contentType: 'text/plain', text: '<hi>' }]).text;
    expect(list).toContain('&lt;hi&gt;');
    expect(list).not.toContain('<iframe');
  });

  test.each(['image/png', 'text/html', 'image/svg+xml', 'application/pdf', null, 'text/html;x=<script>'])(
    'shows %j in a frame that has no origin',
    (contentType) => {
      const list = cardList([{ ...card, contentType, text: '<script>' }]).text;
      expect(list).toContain('<iframe sandbox="allow-scripts" ');
      expect(list).not.toContain('allow-same-origin');
      expect(list).not.toContain('<script');
    },
  );
});
