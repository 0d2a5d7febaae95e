import { expect, test } from 'vitest';
import { artTile } from '#web/parts/art-tile.ts';

const id = `${'a'.repeat(64)}i0`;
const tile = (contentType: string | null, more: object = {}): string =>
  artTile({ id, contentType, ...more }).text;

test.each(['image/png', 'image/svg+xml', 'IMAGE/SVG+XML; charset=utf-8', 'image/avif'])(
  'draws %s as a picture of ours',
  (contentType) => {
    const shown = tile(contentType, { text: '<script>' });
    expect(shown).toContain(`<img class="thumbnail" src="/thumbnails/${id}.webp" alt=""`);
    expect(shown).not.toMatch(/<iframe|script/u);
  },
);

test.each([
  ['text/html', 'HTML', 'open to run'],
  ['audio/mpeg', 'audio/mpeg', 'open to hear'],
  ['video/mp4', 'video/mp4', 'open to watch'],
  ['font/woff2', 'font/woff2', 'open to see'],
  ['application/pdf', 'application/pdf', ''],
  [null, 'no type', ''],
  ['text/html;x=<script>', 'HTML', 'open to run'],
  ['x/<script>', 'x/&lt;script&gt;', ''],
])('names the kind of a content that it does not show: %j', (contentType, kind, invitation) => {
  const shown = tile(contentType, { text: '<script>' });
  expect(shown).toContain(`<span>${kind}</span>`);
  expect(shown.includes('<small>')).toBe(invitation !== '');
  expect(shown).toContain(invitation);
  expect(shown).not.toMatch(/<iframe|<img|<script/u);
});

test('a document without scripts is a still frame without an origin', () => {
  const still = tile('text/html', { runs: false });
  expect(still).toContain('<iframe sandbox="" ');
  expect(still).toContain(`src="/preview/${id}?size=card"`);
  expect(tile('text/html', { runs: true })).toContain('HTML, runs scripts');
});

test('a text is shown as text, or as a still frame if it is not loaded', () => {
  expect(tile('text/plain', { text: '<hi>' })).toContain('<span class="snippet">&lt;hi&gt;</span>');
  expect(tile('application/json', { text: 'x'.repeat(400) })).toContain(`${'x'.repeat(320)}…`);
  expect(tile('text/plain')).toContain('<iframe sandbox="" ');
});
