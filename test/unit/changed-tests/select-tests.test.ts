import { describe, expect, test } from 'vitest';
import { importsOf, type SelectOptions, selectTests } from '#scripts/changed-tests/select-tests.ts';

const aliases = { '#kernel/*': './src/kernel/*', '#orders/*': './src/orders/*' };
const files = [
  { path: 'src/kernel/sats.ts', text: '' },
  { path: 'src/orders/pricing/fee.ts', text: "import { sats } from '#kernel/sats.ts';" },
  { path: 'src/orders/order.ts', text: "import type { Fee } from './pricing/fee.ts';" },
  { path: 'test/unit/kernel/sats.test.ts', text: "import '#kernel/sats.ts';" },
  { path: 'test/unit/orders/order.test.ts', text: "import { order } from '#orders/order.ts';" },
  { path: 'test/unit/orders/pricing/fee.test.ts', text: "import { fee } from '#orders/pricing/fee.ts';" },
  { path: 'test/integration/orders/pricing/fee.test.ts', text: "readdirSync('migrations/service')" },
  { path: 'test/unit/docs.test.ts', text: "globSync('docs/*.md')" },
  { path: 'src/http/hub.ts', text: "import type { Fee } from '#orders/pricing/fee.ts';" },
  { path: 'test/integration/http/lists/lists.test.ts', text: "import '../../../../src/http/hub.ts';" },
  {
    path: 'test/integration/http/orders/price.test.ts',
    text: "import '../lists/lists.test.ts';",
  },
];
const select = (changed: readonly string[], options: Partial<SelectOptions> = {}) =>
  selectTests(files, { changed, aliases, seconds: () => 1, secondsMax: 100, ...options });

describe('the tests that a change touches', () => {
  test('are those that import it, the nearest first, and those of the mirrored folder', () => {
    expect(select(['src/orders/pricing/fee.ts']).chosen).toEqual([
      'test/integration/orders/pricing/fee.test.ts',
      'test/unit/orders/pricing/fee.test.ts',
      'test/unit/orders/order.test.ts',
      'test/integration/http/orders/price.test.ts',
      'test/integration/http/lists/lists.test.ts',
    ]);
  });

  test('are those that read a changed document or folder', () => {
    expect(select(['docs/orders.md']).chosen).toEqual(['test/unit/docs.test.ts']);
    expect(select(['migrations/service/0001_first.sql']).chosen).toEqual([
      'test/integration/orders/pricing/fee.test.ts',
    ]);
  });

  test('end where the time does, but a changed test always runs', () => {
    const { chosen, leftOut } = select(['src/kernel/sats.ts', 'test/unit/docs.test.ts'], { secondsMax: 2 });
    expect(chosen).toEqual(['test/unit/docs.test.ts', 'test/unit/kernel/sats.test.ts']);
    expect(leftOut).toEqual([
      'test/unit/orders/pricing/fee.test.ts',
      'test/integration/http/lists/lists.test.ts',
      'test/unit/orders/order.test.ts',
      'test/integration/http/orders/price.test.ts',
    ]);
    expect(select(['test/unit/docs.test.ts'], { secondsMax: 0 }).chosen).toEqual(['test/unit/docs.test.ts']);
  });

  test('are not chosen where nothing changed', () => {
    expect(select([])).toEqual({ chosen: [], leftOut: [] });
  });
});

test('imports are read with their aliases, dynamic ones too', () => {
  const text =
    "import a from '#kernel/a.ts';\nexport { b } from '../b.ts';\nawait import('./c.ts');\nimport 'pg';";
  expect(importsOf('src/orders/x.ts', text, aliases)).toEqual([
    'src/kernel/a.ts',
    'src/b.ts',
    'src/orders/c.ts',
  ]);
});
