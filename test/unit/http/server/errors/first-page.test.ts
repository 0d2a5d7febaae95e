import { expect, test } from 'vitest';
import { firstPageOf } from '#http/server/errors/first-page.ts';

test.each([
  ['/inscriptions?cursor=AB&sort=oldest&kind=text', '/inscriptions?sort=oldest&kind=text'],
  ['/rune/A/activity?cursor=AB', '/rune/A/activity'],
  ['/inscriptions', '/inscriptions'],
  ['//example.com/a?cursor=x', '/example.com/a'],
  ['/\\example.com?cursor=x', '/example.com'],
])('the first page of %s is %s', (url, first) => {
  expect(firstPageOf(url)).toBe(first);
});
