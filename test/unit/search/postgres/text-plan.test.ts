import { expect, test } from 'vitest';
import { planMetadata, planTexts } from '#search/postgres/text-plan.ts';

test('searches of different kinds have different keys, whatever their needles are', () => {
  const plans = [
    planTexts('fuzzy', ['ordi']),
    planTexts('substring', ['fuzzy', 'ordi']),
    planTexts('words', ['ordi']),
    planTexts('substring', ['words', 'ordi']),
    planTexts('words', ['fuzzy', 'ordi']),
    planTexts('substring', ['ordi']),
    planMetadata({ key: 'name' }),
    planMetadata({ value: 'name' }),
    planTexts('substring', ['metadata', '["name",null]']),
    planTexts('substring', ['metadata', '[null,"name"]']),
  ];
  expect(new Set(plans.map((plan) => plan!.key)).size).toBe(plans.length);
});

test('the order of needles and words makes no difference', () => {
  for (const match of ['substring', 'words', 'fuzzy'] as const) {
    expect(planTexts(match, ['mint', 'ordi'])!.key).toBe(planTexts(match, ['ordi', 'mint'])!.key);
  }
});
