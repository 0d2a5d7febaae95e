import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { fixtureLines, linesOf, samplesFolder, vectorsFolder } from './fixtures.ts';
import { columnsOf, type ReadEnvelope, readEnvelopes } from './synthetic-block.ts';

/** An envelope as the expected results describe it (chain data of test/fixtures/parse/ORIGIN.md). */
interface Expected {
  readonly input: number;
  readonly envelope: number;
  readonly content_type?: string;
  readonly body_length?: number;
  readonly body_sha256?: string;
  readonly pointer_hex?: string;
  readonly metaprotocol?: string;
  readonly metadata_sha256?: string;
  readonly duplicate_field?: boolean;
  readonly parents?: readonly string[];
  readonly delegate?: string;
  readonly content_encoding?: string;
  readonly pushnum?: boolean;
  readonly rune_commitment_hex?: string;
}

interface ExpectedTransaction {
  readonly height?: number;
  readonly txIndex: number;
  readonly txid: string;
  readonly inscriptions: readonly Expected[];
}

const displayId = (bytes: Buffer): string =>
  `${Buffer.from(bytes.subarray(0, 32)).reverse().toString('hex')}i${bytes.readUInt32LE(32)}`;

function parents(bytes: Buffer | undefined): string[] | undefined {
  if (bytes === undefined) return undefined;
  return Array.from({ length: bytes.length / 36 }, (_, index) =>
    displayId(bytes.subarray(index * 36, index * 36 + 36)),
  );
}

/** Our result, written like the expected results. */
function summary(envelope: ReadEnvelope): Record<string, unknown> {
  const has = (flag: number): boolean => (envelope.flags & flag) !== 0;
  const { fields, content } = envelope;
  return {
    input: envelope.input,
    content_type: envelope.type?.toString(),
    body_length: content?.body.length,
    body_sha256: content?.hash,
    pointer_hex: fields.pointer?.toString('hex'),
    metaprotocol: fields.metaprotocol?.toString(),
    metadata_sha256: fields.metadata && hash('sha256', fields.metadata),
    duplicate_field: has(envelopeFlags.duplicateField),
    parents: parents(fields.claimedParents),
    delegate: fields.delegate && displayId(fields.delegate),
    content_encoding: fields.contentEncoding?.toString(),
    pushnum: has(envelopeFlags.pushnum),
    rune_commitment_hex: fields.rune?.toString('hex'),
  };
}

const wanted = (expected: Expected): Record<string, unknown> => ({
  input: expected.input,
  content_type: expected.content_type ?? undefined,
  body_length: expected.body_length ?? undefined,
  body_sha256: expected.body_sha256 ?? undefined,
  pointer_hex: expected.pointer_hex,
  metaprotocol: expected.metaprotocol,
  metadata_sha256: expected.metadata_sha256,
  duplicate_field: expected.duplicate_field ?? false,
  parents: expected.parents,
  delegate: expected.delegate,
  content_encoding: expected.content_encoding,
  pushnum: expected.pushnum ?? false,
  rune_commitment_hex: expected.rune_commitment_hex,
});

function compare(block: Uint8Array, expected: readonly ExpectedTransaction[]): void {
  const found = readEnvelopes(columnsOf(block));
  const flat = expected.flatMap(({ txIndex, txid, inscriptions }) =>
    inscriptions.map((inscription, index) => ({ id: `${txIndex} ${txid}i${index}`, inscription })),
  );
  expect(found.map(({ tx, txid, index }) => `${tx} ${txid}i${index}`)).toEqual(flat.map(({ id }) => id));
  flat.forEach(({ id, inscription }, index) => {
    const envelope = found[index]!;
    expect(summary(envelope), id).toEqual(wanted(inscription));
    expect((envelope.flags & envelopeFlags.notAtOffsetZero) !== 0, id).toBe(inscription.envelope > 0);
  });
}

describe('inscriptions of the bundled mainnet blocks', () => {
  const expected = fixtureLines('mainnet-inscriptions.ndjson.br').map(
    (line) => JSON.parse(line) as ExpectedTransaction,
  );
  const folder = join(samplesFolder, 'mainnet/blocks');
  test.each(readdirSync(folder))('%s', (file) => {
    const height = Number(file.slice(0, 7));
    compare(
      readFileSync(join(folder, file)),
      expected.filter((transaction) => transaction.height === height),
    );
  });
});

const vectors = vectorsFolder();
describe.skipIf(vectors === null)('all blocks of VECTORS_DIR', () => {
  const root = vectors ?? '';
  const folder = (name: string): string[] =>
    vectors === null ? [] : readdirSync(join(root, name)).map((file) => join(root, name, file));
  const blocks = ['mainnet', 'testnet3', 'testnet4', 'signet'].flatMap((name) => folder(`blocks/${name}`));
  const expectedFiles = new Set(folder('expected/inscriptions').map((file) => basename(file, '.ndjson')));

  const expectedOf = (height: string): ExpectedTransaction[] =>
    linesOf(readFileSync(join(root, 'expected/inscriptions', `${height}.ndjson`), 'utf8')).map((line) => {
      const { tx_index: txIndex, ...rest } = JSON.parse(line) as ExpectedTransaction & { tx_index: number };
      const inscriptions = rest.inscriptions.map((inscription) => {
        const {
          id: _,
          location: __,
          unbound: ___,
          goes_to_fee_offset: ____,
          ...facts
        } = inscription as Expected & Record<'id' | 'location' | 'unbound' | 'goes_to_fee_offset', unknown>;
        return facts;
      });
      return { ...rest, txIndex, inscriptions };
    });

  test.each(blocks.map((file) => [basename(file), file] as const))('%s', (name, file) => {
    const block = readFileSync(file);
    const height = String(Number(name.slice(0, 7)));
    if (file.includes('mainnet') && expectedFiles.has(height)) compare(block, expectedOf(height));
    else expect(columnsOf(block).txStart.at(-1)).toBe(block.length);
  });

  test('the block of almost 4 MB whose header is unknown', () => {
    const [file = ''] = folder('blocks_no_header');
    compare(Buffer.concat([Buffer.alloc(80), readFileSync(file)]), expectedOf('832947'));
  });
});
