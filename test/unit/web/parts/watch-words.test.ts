import { describe, expect, test } from 'vitest';
import { html } from '#web/html.ts';
import { watchTitle, watchWords } from '#web/parts/watch-words.ts';

const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const id = `${'ab'.repeat(32)}i0`;

describe('the words of a watch', () => {
  test.each([
    ['search', { text: 'brc-20,mint' }, 'Contents with “brc-20” and “mint”'],
    ['search', { text: 'brc-20,mint', phrase: true }, 'Contents with “brc-20,mint”'],
    [
      'search',
      { metadata: ' a b , c', contentType: 'image/*' },
      'Metadata with “a b” and “c”, contentType: image/*',
    ],
    ['search', { text: 'red,hat', words: '1' }, 'Contents with the words “red,hat”'],
    ['search', { title: 'Foo' }, 'Inscriptions, title: Foo'],
    ['search', { hash: 'ab'.repeat(32) }, `The content with the hash ${'ab'.repeat(32)}`],
    ['sales', { collection: 'frogs', maxPrice: 50_000 }, 'Sales of the collection frogs up to 50,000 sats'],
    ['sales', { address, minPrice: '1000' }, `Sales and purchases of ${address} from 1,000 sats`],
    ['sales', { address, collection: 'frogs' }, `Sales and purchases of ${address} in the collection frogs`],
    ['children', { parent: id }, `New children of ${id}`],
    ['runes', { event: 'etched' }, 'New runes'],
    ['runes', { event: 'minted-out', rune: 'A•B' }, 'The last mint of A•B'],
    ['receipts', { address }, `Receipts of ${address}`],
  ])('as a plain text: %s %j', (kind, condition, words) => {
    expect(watchTitle(kind, condition)).toBe(words);
  });

  test('on a page escape texts of strangers, and link what they name', () => {
    const shown = (kind: string, condition: object): string =>
      html`${watchWords(kind, condition as Record<string, unknown>)}`.text;
    expect(shown('search', { text: '<b>,c', key: '<i>' })).toBe(
      'Contents with <q>&lt;b&gt;</q> and <q>c</q> <span class="chip">key: &lt;i&gt;</span>',
    );
    expect(shown('sales', { address })).toContain(
      `Sales and purchases of <a class="mono" href="/address/${address}"`,
    );
    expect(shown('runes', { event: 'etched', rune: 'A•B' })).toContain('href="/rune/A%E2%80%A2B">A•B</a>');
  });
});
