import { describe, expect, test } from 'vitest';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { fixtureLines } from './fixtures.ts';
import { blockOf, columnsOf, type ReadEnvelope, readEnvelopes, shownProperties } from './synthetic-block.ts';

interface RealTransaction {
  readonly source: string;
  readonly txid?: string;
  readonly title?: string;
  readonly hex: string;
  /** sha256 of the decoded content, by the number of the envelope. */
  readonly bodies?: Record<string, string>;
  readonly tags?: Record<string, unknown>;
  readonly body?: string;
}

const transactions = fixtureLines('transactions.ndjson.br').map(
  (line) => JSON.parse(line) as RealTransaction,
);

function envelopesOf(name: string): ReadEnvelope[] {
  const found = transactions.find(({ txid, title }) => txid?.startsWith(name) === true || title === name);
  if (found === undefined) throw new Error(`no transaction ${name}`);
  return readEnvelopes(columnsOf(blockOf([Buffer.from(found.hex, 'hex')])));
}

function onlyEnvelope(name: string): ReadEnvelope {
  const envelopes = envelopesOf(name);
  expect(envelopes).toHaveLength(1);
  return envelopes[0]!;
}

describe('real transactions', () => {
  test.each(
    transactions
      .filter(({ bodies = {} }) => Object.keys(bodies).length > 0)
      .map((real) => [real.txid, real] as const),
  )('%s has the content that others read in it', (txid, { hex, bodies = {} }) => {
    const envelopes = readEnvelopes(columnsOf(blockOf([Buffer.from(hex, 'hex')])));
    for (const [index, sha256] of Object.entries(bodies)) {
      const envelope = envelopes[Number(index)]!;
      expect(envelope.txid).toBe(txid);
      // an envelope with a delegate has no content of its own
      if (envelope.content === null) expect(envelope.fields.delegate).toBeDefined();
      else expect(envelope.content.decodedHash ?? envelope.content.hash).toBe(sha256);
    }
  });

  test('a brotli script and a gzip drawing are texts', () => {
    expect(onlyEnvelope('6dc2c16a').content).toMatchObject({ variant: 9, text: 2 });
    expect(onlyEnvelope('4c83f2e1').content).toMatchObject({ variant: 10, text: 2 });
  });

  test.each(['08770f28', 'bd7d4631', '5125c126'])('%s, a bomb or broken, is kept and not decoded', (name) => {
    expect(onlyEnvelope(name).content).toMatchObject({ variant: 9, text: 0, decodedHash: null });
  });

  test('galleries are shown', () => {
    const shown = JSON.parse(shownProperties(onlyEnvelope('47311be0')) ?? '') as {
      gallery: unknown[];
    };
    expect(shown.gallery.length).toBeGreaterThan(0);
    expect(shownProperties(onlyEnvelope('9936fce2'))).toBeDefined();
  });

  test.each(['98316dcb', '5972bbca', '054cc18a', '0476e678', '2c01d2a0'])(
    '%s of another protocol has no envelope',
    (name) => {
      expect(envelopesOf(name)).toEqual([]);
    },
  );

  test('a hundred envelopes of one input, with metadata', () => {
    const envelopes = envelopesOf('inscription/-471084');
    expect(envelopes).toHaveLength(100);
    expect(envelopes.every(({ fields }) => fields.metadata !== undefined)).toBe(true);
    expect(envelopes.filter(({ flags }) => (flags & envelopeFlags.notAtOffsetZero) === 0)).toHaveLength(1);
    for (const { metadata } of envelopes) expect(JSON.parse(metadata!)).toBeTypeOf('object');
  });

  test('metadata and several parents as another encoder names them', () => {
    const withMetadata = transactions.find(({ title }) => title === 'inscription/48315131')!;
    const envelope = onlyEnvelope('inscription/48315131');
    expect(JSON.parse(envelope.metadata!)).toEqual(withMetadata.tags?.['metadata']);
    expect(envelope.content?.body.toString('hex')).toBe(withMetadata.body);

    const withParents = transactions.find(({ title }) => title === 'inscription/-381350')!;
    const { fields } = onlyEnvelope('inscription/-381350');
    const ids = Array.from({ length: fields.claimedParents!.length / 36 }, (_, index) => {
      const id = fields.claimedParents!.subarray(index * 36, index * 36 + 36);
      return `${Buffer.from(id.subarray(0, 32)).reverse().toString('hex')}i${id.readUInt32LE(32)}`;
    });
    expect(ids).toEqual(withParents.tags?.['parent']);
    expect(fields.note?.toString()).toBe(withParents.tags?.['note']);
  });
});
