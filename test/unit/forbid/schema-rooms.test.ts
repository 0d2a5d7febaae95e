import { describe, expect, test } from 'vitest';
import {
  checkSchemaRooms,
  namedTables,
  type Owners,
  roomOf,
  schemaFaults,
} from '#scripts/forbid/check-schema-rooms.ts';

const named = (text: string): string[] =>
  namedTables('a.ts', text).map(({ line, name }) => `${line} ${name}`);

describe('tables that a source file names', () => {
  test('are in strings and templates, at their lines', () => {
    const text = [
      "const a = 'SELECT FROM chain.blocks';",
      'const b = `SELECT height',
      '  FROM chain.sales s ${join} JOIN service.market_items USING (key) ${where}',
      '  AND chain.hash64(txid, 0) = $1`;',
    ].join('\n');
    expect(named(text)).toEqual([
      '1 chain.blocks',
      '3 chain.sales',
      '3 service.market_items',
      '4 chain.hash64',
    ]);
  });

  test('are not in comments, properties and paths', () => {
    const text = [
      '// chain.blocks\n/** service.orders */',
      'chain.refs(service.own);',
      "import './pages.service.ts'; import '#chain/blocks/a.ts'; const f = 'folder/chain.json';",
    ].join('\n');
    expect(named(text)).toEqual([]);
  });

  test('are all of a schema where the text does not say which', () => {
    expect(named('`GRANT ${a} ON service.${table} TO b`')).toEqual(['1 service.*']);
    expect(named("'GRANT USAGE ON SCHEMA chain, service TO a'")).toEqual(['1 chain.*', '1 service.*']);
    expect(named('"SELECT FROM pg_namespace WHERE nspname = \'chain\'"')).toEqual(['1 chain.*']);
    expect(named("'chain'")).toEqual([]);
  });
});

test.each([
  ['indexer/apply/undo.ts', 'indexer'],
  ['search/seal/sealer.ts', 'search'],
  ['src/orders/order/order.store.ts', 'src/orders'],
  ['src/main.ts', 'src'],
])('the room of %s is %s', (path, room) => {
  expect(roomOf(path)).toBe(room);
});

describe('SQL', () => {
  const known = new Set([
    'chain.blocks',
    'chain.sales',
    'service.orders',
    'service.wallet',
    'service.new_table',
  ]);
  const owners: Owners = {
    chainRooms: ['indexer', 'src/chain'],
    serviceRooms: { orders: 'src/orders', wallet: 'src/wallet' },
    sharedTables: [{ room: 'src/market', names: ['chain.sales'], why: 'joined with its items' }],
  };
  const faults = (path: string, sql: string): string[] =>
    schemaFaults({ 'src/market/a.ts': "'chain.sales'", [path]: `'${sql}'` }, known, owners);

  test.each([
    ['indexer/apply/undo.ts', 'DELETE FROM chain.blocks'],
    ['src/chain/blocks/block.queries.ts', 'SELECT FROM chain.sales'],
    ['src/orders/order.store.ts', 'SELECT FROM service.orders'],
    ['src/market/b.ts', 'SELECT FROM chain.sales'],
    ['src/http/a.ts', 'no table: chain.json'],
  ])('in %s may be "%s"', (path, sql) => {
    expect(faults(path, sql)).toEqual([]);
  });

  test.each([
    ['src/orders/a.ts', 'SELECT FROM chain.blocks', 'ask indexer, src/chain'],
    ['src/market/b.ts', 'SELECT FROM chain.blocks', 'ask indexer, src/chain'],
    ['src/chain/a.ts', 'SELECT FROM service.orders', 'ask src/orders'],
    ['src/orders/a.ts', 'SELECT FROM service.wallet', 'ask src/wallet'],
    ['src/orders/a.ts', 'SELECT FROM service.new_table', 'no room owns it'],
  ])('in %s may not be "%s"', (path, sql, reason) => {
    expect(faults(path, sql)).toMatchObject([expect.stringMatching(`^  ${path}:1: .*${reason}`)]);
  });

  test('of one file may be allowed, and is not allowed to another file of its room', () => {
    const sharedTables = [
      { room: 'src/market', files: { 'lists/a.ts': ['chain.sales'] }, why: 'joined with its items' },
    ];
    const found = (files: Record<string, string>): string[] =>
      schemaFaults(files, known, { ...owners, sharedTables });
    const a = { 'src/market/lists/a.ts': "'chain.sales'" };
    expect(found(a)).toEqual([]);
    expect(found({ ...a, 'src/market/lists/b.ts': "'chain.sales'" })).toMatchObject([
      expect.stringMatching(/^ {2}src\/market\/lists\/b\.ts:1: chain\.sales: ask indexer, src\/chain/u),
    ]);
    expect(found({ 'src/market/lists/a.ts': "'chain.blocks'" })).toMatchObject([
      expect.stringContaining('a.ts:1: chain.blocks'),
      expect.stringContaining('src/market/lists/a.ts no longer names chain.sales'),
    ]);
  });

  test('has no entry in the table that nothing needs', () => {
    const without = schemaFaults({}, new Set(['service.orders']), owners);
    expect(without).toMatchObject([
      expect.stringContaining('src/market no longer names chain.sales'),
      expect.stringContaining('there is no service.wallet'),
    ]);
  });

  test('of this tree names tables of its rooms alone', () => {
    expect(checkSchemaRooms(new URL('../../..', import.meta.url).pathname).faults).toEqual([]);
  });
});
