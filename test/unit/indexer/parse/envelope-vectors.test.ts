import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { fixtureFolder } from './fixtures.ts';
import { blockOf, columnsOf, type ReadEnvelope, readEnvelopes, transaction } from './synthetic-block.ts';

interface Vector {
  readonly test: string;
  readonly witnesses: readonly (readonly string[])[];
  readonly expected: readonly {
    readonly input: number;
    readonly offset: number;
    readonly pushnum: boolean;
    readonly stutter: boolean;
    readonly payload: Record<string, string | boolean | null>;
  }[];
}

const file = JSON.parse(readFileSync(join(fixtureFolder, 'envelope_parse.json'), 'utf8')) as {
  vectors: Vector[];
};

const has = (envelope: ReadEnvelope, flag: number): boolean => (envelope.flags & flag) !== 0;

/** An envelope as the test vectors describe it. */
function summary(envelope: ReadEnvelope, offset: number): Vector['expected'][number] {
  const { fields } = envelope;
  const hex = (bytes: Buffer | null | undefined): string | null => bytes?.toString('hex') ?? null;
  return {
    input: envelope.input,
    offset,
    pushnum: has(envelope, envelopeFlags.pushnum),
    stutter: has(envelope, envelopeFlags.stutter),
    payload: {
      content_type: hex(envelope.type),
      body: hex(envelope.content?.body),
      content_encoding: hex(fields.contentEncoding),
      metadata: hex(fields.metadata),
      pointer: hex(fields.pointer),
      properties: hex(fields.properties),
      duplicate_field: has(envelope, envelopeFlags.duplicateField),
      incomplete_field: has(envelope, envelopeFlags.incompleteField),
      unrecognized_even_field: has(envelope, envelopeFlags.unrecognizedEvenField),
    },
  };
}

describe('the 60 envelope vectors of ord', () => {
  test('has all of them', () => {
    expect(file.vectors).toHaveLength(60);
  });

  test.each(file.vectors.map((vector) => [vector.test, vector] as const))('%s', (_, vector) => {
    const inputs = vector.witnesses.map((witness) => ({
      witness: witness.map((item) => Buffer.from(item, 'hex')),
    }));
    const found = readEnvelopes(columnsOf(blockOf([transaction(inputs)])));
    const summaries = found.map((envelope, index) => {
      const earlier = found.slice(0, index).filter(({ input }) => input === envelope.input);
      expect(has(envelope, envelopeFlags.notAtOffsetZero)).toBe(earlier.length > 0);
      return summary(envelope, earlier.length);
    });
    expect(summaries).toEqual(vector.expected);
  });
});
