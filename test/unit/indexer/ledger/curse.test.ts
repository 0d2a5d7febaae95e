import { describe, expect, test } from 'vitest';
import { curseOfEnvelope, isCursedReinscription } from '#indexer/ledger/inscriptions/curse-of-envelope.ts';
import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';
import { curses } from '#kernel/primitives/curse.ts';

describe('the curse of an envelope', () => {
  const inOrder = [
    ['unrecognizedEvenField', envelopeFlags.unrecognizedEvenField, 0, curses.unrecognizedEvenField],
    ['duplicateField', envelopeFlags.duplicateField, 0, curses.duplicateField],
    ['incompleteField', envelopeFlags.incompleteField, 0, curses.incompleteField],
    ['not in the first input', 0, 1, curses.notInFirstInput],
    ['notAtOffsetZero', envelopeFlags.notAtOffsetZero, 0, curses.notAtOffsetZero],
    ['pointer', envelopeFlags.pointer, 0, curses.pointer],
    ['pushnum', envelopeFlags.pushnum, 0, curses.pushnum],
    ['stutter', envelopeFlags.stutter, 0, curses.stutter],
  ] as const;

  test.each(inOrder)('is decided by %s', (_, flags, input, curse) => {
    expect(curseOfEnvelope(flags, input)).toBe(curse);
  });

  test('is the first that applies, in the order of ord', () => {
    inOrder.forEach(([, flags, input, curse], first) => {
      for (const [, laterFlags, laterInput] of inOrder.slice(first)) {
        expect(curseOfEnvelope(flags | laterFlags, Math.max(input, laterInput))).toBe(curse);
      }
    });
  });

  test('is absent for an ordinary envelope, with or without a body', () => {
    expect(curseOfEnvelope(0, 0)).toBe(curses.none);
    expect(curseOfEnvelope(envelopeFlags.body, 0)).toBe(curses.none);
  });
});

describe('a reinscription', () => {
  test('is not cursed on a sat without inscriptions', () => {
    expect(isCursedReinscription(0, curses.none)).toBe(false);
  });
  test('is cursed on an uncursed one', () => {
    expect(isCursedReinscription(1, curses.none)).toBe(true);
  });
  test('is not cursed on a single one that was itself cursed or vindicated', () => {
    expect(isCursedReinscription(1, curses.pushnum)).toBe(false);
  });
  test('is cursed on two, whatever they were', () => {
    expect(isCursedReinscription(2, curses.pushnum)).toBe(true);
  });
});
