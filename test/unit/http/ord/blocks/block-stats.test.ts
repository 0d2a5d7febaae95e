import { describe, expect, test } from 'vitest';
import { difficultyOf, targetHex } from '#http/ord/blocks/block-stats.ts';

describe('difficultyOf', () => {
  // values that getblockheader returns for mainnet blocks 0, 32256 and 800000, and that ord returns for any regtest
  // block
  test.each([
    [0x1d00ffff, 1],
    [0x1d00d86a, 1.182899534312841],
    [0x17053894, 53911173001054.59],
    [0x207fffff, 4.6565423739069247e-10],
  ])('of %i', (bits, difficulty) => {
    expect(difficultyOf(bits)).toBe(difficulty);
  });
});

describe('targetHex', () => {
  test.each([
    [0x1d00ffff, `00000000ffff${'0'.repeat(52)}`],
    [0x207fffff, `7fffff${'0'.repeat(58)}`],
    [0x03123456, `${'0'.repeat(58)}123456`],
    [0x01123456, `${'0'.repeat(62)}12`],
  ])('of %i', (bits, hex) => {
    expect(targetHex(bits)).toBe(hex);
  });
});
