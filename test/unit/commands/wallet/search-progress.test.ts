import { expect, test } from 'vitest';
import { progressLine, searchProgress } from '#src/commands/wallet/search-progress.ts';

const state = { searched: 200_000, end: 1_000_000, percent: 50, found: 12 };

test('a line says how far the node is', () => {
  expect(progressLine(state)).toBe(
    '[##############--------------] 50 %, addresses from 200000 of 1000000, 12 outputs found',
  );
  expect(progressLine({ ...state, percent: null })).toContain('addresses are derived');
  expect(progressLine({ searched: 0, end: 0, percent: null, found: 0 })).toBe(
    '[----------------------------] addresses are derived, 0 outputs found',
  );
});

test('a terminal is redrawn, and its line ends', () => {
  const written: string[] = [];
  const progress = searchProgress({ isTTY: true, write: (text) => written.push(text) });
  progress.update(state);
  progress.update({ ...state, percent: 51 });
  progress.finish();
  expect(written.map((text) => text[0])).toEqual(['\r', '\r', '\n']);
});

test('elsewhere there is a line each ten seconds, the first at once', () => {
  const written: string[] = [];
  let now = 0;
  const progress = searchProgress({ write: (text) => written.push(text) }, () => now);
  for (; now < 25_000; now += 1000) progress.update(state);
  progress.update({ compared: 50, of: 100 });
  progress.finish();
  expect(written).toEqual([0, 1, 2].map(() => `${progressLine(state)}\n`));
});

test('a line says with how many addresses the destination was compared', () => {
  expect(progressLine({ compared: 50, of: 100 })).toBe(
    '[##############--------------] comparing --to with the addresses of the wallet: 50 of 100',
  );
});
