import { describe, expect, test } from 'vitest';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { fixtureLines } from './fixtures.ts';
import { columnsOf, type ReadEnvelope, readEnvelopes, shownProperties } from './synthetic-block.ts';

/** ord's /decode and /inscription for an envelope. Fields are absent if they are null, false, 0 or empty. */
interface OrdEnvelope {
  readonly input: number;
  readonly offset?: number;
  readonly pushnum?: boolean;
  readonly stutter?: boolean;
  readonly body?: [length: number, sha256: string];
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly delegate?: string;
  readonly duplicateField?: boolean;
  readonly incompleteField?: boolean;
  readonly unrecognizedEvenField?: boolean;
  readonly metadata?: string;
  readonly metaprotocol?: string;
  readonly parents?: readonly string[];
  readonly pointer?: string;
  readonly properties?: string;
  readonly propertyEncoding?: string;
  readonly rune?: string;
  readonly shownProperties?: string;
  /** Whether ord was not asked, because the envelope is not an inscription. */
  readonly notAsked?: boolean;
}

interface DecodedTransaction {
  readonly chain: string;
  readonly txid: string;
  readonly envelopes: readonly OrdEnvelope[];
}

const decoded = fixtureLines('golden-decode.ndjson.br').map((line) => JSON.parse(line) as DecodedTransaction);

/** The 36 bytes of an id field, or '' if the field is invalid. */
function idOf(field: string): string {
  const bytes = Buffer.from(field, 'hex');
  if (bytes.length < 32 || bytes.length > 36) return '';
  if (bytes.length > 32 && bytes.length < 36 && bytes.at(-1) === 0) return '';
  return Buffer.concat([bytes], 36).toString('hex');
}

const hex = (bytes: Buffer | null | undefined): string | undefined => bytes?.toString('hex');
const orUndefined = (text: string): string | undefined => (text === '' ? undefined : text);

function ours(envelope: ReadEnvelope): Record<string, unknown> {
  const has = (flag: number): boolean => (envelope.flags & flag) !== 0;
  const { fields, content } = envelope;
  return {
    input: envelope.input,
    notAtOffsetZero: has(envelopeFlags.notAtOffsetZero),
    pushnum: has(envelopeFlags.pushnum),
    stutter: has(envelopeFlags.stutter),
    hasBody: has(envelopeFlags.body),
    hasPointer: has(envelopeFlags.pointer),
    body: content === null ? undefined : [content.body.length, content.hash],
    contentType: hex(envelope.type),
    contentEncoding: hex(fields.contentEncoding),
    delegate: hex(fields.delegate),
    duplicateField: has(envelopeFlags.duplicateField),
    incompleteField: has(envelopeFlags.incompleteField),
    unrecognizedEvenField: has(envelopeFlags.unrecognizedEvenField),
    metadata: hex(fields.metadata),
    metaprotocol: hex(fields.metaprotocol),
    parents: hex(fields.claimedParents),
    pointer: hex(fields.pointer),
    properties: hex(fields.properties),
    propertyEncoding: hex(fields.propertyEncoding),
    rune: hex(fields.rune),
    shownProperties: shownProperties(envelope),
  };
}

function ords(envelope: OrdEnvelope, shown: string | undefined): Record<string, unknown> {
  const { offset = 0, parents = [], notAsked: _, ...rest } = envelope;
  return {
    ...rest,
    notAtOffsetZero: offset > 0,
    pushnum: rest.pushnum === true,
    stutter: rest.stutter === true,
    hasBody: rest.body !== undefined,
    hasPointer: rest.pointer !== undefined,
    delegate: orUndefined(idOf(rest.delegate ?? '')),
    duplicateField: rest.duplicateField === true,
    incompleteField: rest.incompleteField === true,
    unrecognizedEvenField: rest.unrecognizedEvenField === true,
    parents: orUndefined(parents.map(idOf).join('')),
    shownProperties: envelope.notAsked === true ? shown : envelope.shownProperties,
  };
}

describe('envelopes of the golden chains equal those of ord', () => {
  test.each(goldenChainNames)('%s', (name) => {
    const golden = new GoldenChain(name);
    const expected = new Map(
      decoded.filter(({ chain }) => chain === name).map(({ txid, envelopes }) => [txid, envelopes]),
    );
    const found = new Map<string, ReadEnvelope[]>();
    for (const header of golden.chain.headers) {
      const { bytes, spent, hash } = golden.block(header);
      const columns = columnsOf(bytes, { spent });
      expect(Buffer.from(columns.blockHash).reverse().toString('hex')).toBe(hash);
      for (const envelope of readEnvelopes(columns)) {
        found.set(envelope.txid, [...(found.get(envelope.txid) ?? []), envelope]);
      }
    }
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [txid, envelopes] of found) {
      const read = envelopes.map(ours);
      const wanted = (expected.get(txid) ?? []).map((envelope, index) =>
        ords(envelope, read[index]?.['shownProperties'] as string | undefined),
      );
      expect(read, txid).toEqual(wanted);
    }
  });
});
