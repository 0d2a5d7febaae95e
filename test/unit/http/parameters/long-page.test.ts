import { expect, test } from 'vitest';
import { isLongPage } from '#http/parameters/list-parameters.ts';

test('a page is long if it has more entries than the default', () => {
  expect([{}, { limit: '1' }, { limit: '100' }, { limit: 'many' }].map(isLongPage)).not.toContain(true);
  expect([{ limit: '101' }, { limit: '1000' }, { limit: '99999' }].map(isLongPage)).not.toContain(false);
});
