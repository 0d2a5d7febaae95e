import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportInscriptions } from '#chain/inscriptions/export-inscriptions.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

async function pieces(): Promise<string[]> {
  const found: string[] = [];
  await withSnapshot(
    database.pool,
    async ({ client }) => {
      for await (const piece of exportInscriptions(client, {})) found.push(piece);
    },
    null,
  );
  return found;
}

/** Inscriptions with the given metadata and types, all in one block of an anchored chain. */
async function fill(
  rows: readonly { metadata: string | null; type: Buffer | null; metaprotocol: Buffer | null }[],
): Promise<void> {
  const { pool } = database;
  await pool.query(
    'TRUNCATE chain.blocks, chain.inscriptions, chain.inscription_details, chain.metadata_texts, chain.locations',
  );
  await pool.query(
    `INSERT INTO chain.blocks VALUES (5, $1, $2, 0, now(), 1, 1, 5, true, true, 0, $3::integer, 0, 0, $3::integer, $3::integer, 0, 0, 0)`,
    [hash('block'), Buffer.alloc(80), rows.length],
  );
  for (const [key, { metadata, type, metaprotocol }] of rows.entries()) {
    await pool.query(
      `INSERT INTO chain.inscriptions (key, txid, index, height, tx_index, input, content_id, content_type, number, curse,
         charms, fee, flags, metadata_id) VALUES ($1, $2, 0, 5, 1, 0, NULL, $3, $1, 0, 0, 100, 0, $4)`,
      [key, hash(`${key}`), type, metadata === null ? null : key],
    );
    if (metadata !== null) {
      await pool.query('INSERT INTO chain.metadata_texts VALUES ($1, $2, $3, NULL)', [
        key,
        hash(metadata),
        Buffer.from(metadata),
      ]);
    }
    if (metaprotocol !== null) {
      await pool.query('INSERT INTO chain.inscription_details (key, metaprotocol) VALUES ($1, $2)', [
        key,
        metaprotocol,
      ]);
    }
  }
}

const plain = { metadata: null, type: Buffer.from('text/plain'), metaprotocol: null };

test('pages end early where their rows are heavy', async () => {
  const heavy = JSON.stringify('x'.repeat(3_500_000));
  await fill(Array.from({ length: 7 }, (_, key) => ({ ...plain, metadata: key === 3 ? null : heavy })));
  const found = await pieces();
  const lines = found.flatMap((piece) => piece.trimEnd().split('\n'));
  expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([
    0, 1, 2, 3, 4, 5, 6,
  ]);
  expect(found).toHaveLength(2);
  for (const piece of found) expect(piece.length).toBeLessThan(8_000_000 + 2 * heavy.length);
});

test('numbers of metadata keep all their digits', async () => {
  await fill([{ ...plain, metadata: '{"a":18446744073709551615,"b":[1.5e300,",\\"fee\\":"]}' }]);
  const [line = ''] = await pieces();
  expect(line).toContain('"metadata":{"a":18446744073709551615,"b":[1.5e300,",\\"fee\\":"]},"fee":100}\n');
  expect(JSON.parse(line)).toMatchObject({ fee: 100 });
});

test('types and metaprotocols that are not UTF-8 are null, as with ord; empty ones are empty', async () => {
  await fill([
    { metadata: null, type: Buffer.from([0xff]), metaprotocol: Buffer.from([0xc0, 0x80]) },
    { metadata: null, type: null, metaprotocol: null },
    { metadata: null, type: Buffer.alloc(0), metaprotocol: Buffer.from('"fee":\n') },
  ]);
  const [text = ''] = await pieces();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ contentType, metaprotocol }) => [contentType, metaprotocol])).toEqual([
    [null, null],
    [null, null],
    ['', '"fee":\n'],
  ]);
});

test('what is not known is null: no location, no charms', async () => {
  await fill([plain]);
  const [line = ''] = await pieces();
  expect(JSON.parse(line)).toEqual({
    id: `${Buffer.from(hash('0')).reverse().toString('hex')}i0`,
    number: 0,
    sequence: 0,
    height: 5,
    txIndex: 1,
    input: 0,
    satpoint: null,
    contentType: 'text/plain',
    contentLength: null,
    contentHash: null,
    curse: null,
    charms: null,
    claimedParents: [],
    parents: [],
    delegate: null,
    metaprotocol: null,
    metadata: null,
    fee: 100,
  });
});

test('keys come in the order that the line promises', async () => {
  await fill([plain]);
  const [line = ''] = await pieces();
  expect(Object.keys(JSON.parse(line) as object)).toEqual([
    'id',
    'number',
    'sequence',
    'height',
    'txIndex',
    'input',
    'satpoint',
    'contentType',
    'contentLength',
    'contentHash',
    'curse',
    'charms',
    'claimedParents',
    'parents',
    'delegate',
    'metaprotocol',
    'metadata',
    'fee',
  ]);
});
