import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAllocationRequest } from '#collections/reading/read-allocation-request.ts';
import { readCollection } from '#collections/reading/read-collection.ts';
import { readPhasesRequest } from '#collections/reading/read-phases-request.ts';
import { atOnce } from '#kernel/concurrency/work-in-steps.ts';
import { networks } from '#kernel/primitives/network.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const network = networks.regtest;
const read = (body: unknown) => atOnce(readCollection(body, { network, urlProblem: () => null }));

const names =
  'id name description creator totalCount files phases allowList price altPrices apikeyhash'.split(' ');
const fields = 'isPublic allowList startDate endDate inscriptionsCount url size allocation 0 1'.split(' ');
const plain = [
  null,
  undefined,
  true,
  0,
  1,
  -1,
  2,
  1e21,
  0.5,
  '',
  '1',
  '-1',
  'a.png',
  'x'.repeat(300),
  addressOf(1),
];
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...plain),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...fields, addressOf(1)), fc.string()), tie('any'), {
      maxKeys: 4,
    }),
  ),
})).any;
const bodies = fc.oneof(value, fc.dictionary(fc.constantFrom(...names, 'creator-address'), value));

describe('the readers of collections', () => {
  test('give a result or faults, at most 50, for any value', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const results = [
          read(body),
          atOnce(readPhasesRequest(body, network)),
          readAllocationRequest(body, network),
        ];
        for (const found of results) {
          if (found.kind === 'read') continue;
          expect(found.faults.length).toBeGreaterThan(0);
          expect(found.faults.length).toBeLessThanOrEqual(50);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('read the same from JSON and from the texts and indexed objects of a form', () => {
    const phase = fc.record({
      isPublic: fc.constantFrom(0, 1),
      inscriptionsCount: fc.integer({ min: 1, max: 9 }),
      startDate: fc.integer({ min: 0, max: 1_000 }),
      endDate: fc.integer({ min: 1_001, max: 2_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(phase, { maxLength: 30 }),
        fc.integer({ min: 9, max: 99 }),
        (phases, totalCount) => {
          const body = { id: 'a', name: 'b', description: 'c', creator: 'd', totalCount, phases };
          expect(read(body).kind).toBe('read');
          expect(read(formOf(body))).toEqual(read(body));
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });
});

/** A value as an HTML form sends it: numbers are texts, and lists are objects whose keys are indices. */
function formOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return String(given);
  return Object.fromEntries(Object.entries(given).map(([name, part]) => [name, formOf(part)]));
}
