import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventId, parseEventPlace } from '#kernel/events/event-id.ts';
import { checkedEventKinds, inscriptionKind } from '#kernel/events/event-kind.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const births = { name: 'births', number: 9, letter: 'b', version: 1 };
const runes = { name: 'runes', number: 1, letter: 'r', version: 3 };

describe('the kinds of events', () => {
  test('may be reserved ones and others', () => {
    const kinds = [inscriptionKind, runes, births];
    expect(checkedEventKinds(kinds)).toBe(kinds);
  });

  test.each([
    ['a name twice', [births, { ...births, number: 10, letter: 'c' }]],
    ['a number twice', [births, { ...births, name: 'deaths', letter: 'd' }]],
    ['a letter twice', [births, { ...births, name: 'deaths', number: 10 }]],
    ['a value twice', [inscriptionKind, inscriptionKind]],
    ['a reserved number', [{ ...births, number: 2 }]],
    ['a reserved letter', [{ ...births, letter: 's' }]],
    ['no letter', [{ ...births, letter: '' }]],
    ['another letter of a reserved name', [{ ...runes, letter: 'x' }]],
    ['two letters', [{ ...births, letter: 'bb' }]],
    ['a name of digits', [{ ...births, name: '7' }]],
    ['a number that is too large', [{ ...births, number: 32_768 }]],
    ['version 0', [{ ...births, version: 0 }]],
  ])('refuse %s', (_, kinds) => {
    expect(() => checkedEventKinds(kinds)).toThrow(/name|number|letter|version|mistaken/u);
  });
});

describe('the id of an event', () => {
  test('is read as it was made', () => {
    const sequences = fc.nat(999_999_999_999_999);
    const indexes = fc.nat(999_999_999);
    fc.assert(
      fc.property(
        fc.constantFrom(inscriptionKind, runes, births),
        sequences,
        indexes,
        (kind, sequence, index) => {
          const place = parseEventPlace(eventId(kind, sequence, index));
          expect(place).toEqual({ sequence, event: { letter: kind.letter, index } });
          expect(parseEventPlace(String(sequence))).toEqual({ sequence, event: null });
        },
      ),
    );
  });

  test('is null for any other text, and never throws', () => {
    const id = /^\d{1,15}(\.[a-z]?\d{1,9})?$/u;
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.a-z-]{0,30}$/u)), (text) => {
        expect(parseEventPlace(text) === null).toBe(!id.test(text));
      }),
      { numRuns: propertyRuns(500) },
    );
    for (const text of ['', '1.', '1.r', '1.rr2', '1.R2', '-1', '1.2.3', ' 1', '1\n', '9999999999999999']) {
      expect(parseEventPlace(text)).toBeNull();
    }
  });
});
