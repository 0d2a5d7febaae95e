import { expect, test } from 'vitest';
import { progressLine, searchProgress } from '#src/commands/wallet/search-progress.ts';
import { silentLogger } from '#test/support/http-app.ts';

const state = { searched: 200_000, end: 1_000_000, percent: 50, found: 12 };

test('a line says how far the node is', () => {
  expect(progressLine(state)).toBe(
    '[##############--------------] 50 %, addresses from 200000 of 1000000, 12 outputs found',
  );
  expect(progressLine({ ...state, percent: null })).toContain('addresses are derived');
});

test('a terminal is redrawn, and its line ends', () => {
  const written: string[] = [];
  const progress = searchProgress({ isTTY: true, write: (text) => written.push(text) }, silentLogger());
  progress.update(state);
  progress.update({ ...state, percent: 51 });
  progress.finish();
  expect(written.map((text) => text[0])).toEqual(['\r', '\r', '\n']);
});

test('elsewhere the log has a line each ten seconds', () => {
  const logged: unknown[] = [];
  const logger = Object.assign(silentLogger(), { info: (fields: unknown) => void logged.push(fields) });
  let now = 0;
  const progress = searchProgress({ write: () => undefined }, logger, () => now);
  for (; now < 25_000; now += 1000) progress.update(state);
  progress.finish();
  expect(logged).toHaveLength(3);
});
