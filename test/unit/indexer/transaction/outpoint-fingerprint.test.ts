import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expandFingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { testKey } from '#test/unit/indexer/parse/synthetic-block.ts';

const key = expandFingerprintKey(testKey);

function of(outpoint: Uint8Array, at = 0, ofKey = key): string {
  const view = new DataView(outpoint.buffer, outpoint.byteOffset, outpoint.byteLength);
  fingerprintOutpoint(view, at, ofKey);
  return `${fingerprint.high} ${fingerprint.low}`;
}

describe('fingerprints of outpoints', () => {
  test('are unsigned, the same at any place of the outpoint, and others under another key', () => {
    const other = expandFingerprintKey(new Uint8Array(32).fill(8));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 36, maxLength: 36 }), fc.nat(9), (outpoint, before) => {
        const print = of(outpoint);
        expect(print).toMatch(/^\d+ \d+$/u);
        expect(of(Buffer.concat([Buffer.alloc(before, 0xaa), outpoint]), before)).toBe(print);
        expect(of(outpoint, 0, other)).not.toBe(print);
      }),
    );
  });

  test('never collide in either half for outputs of one transaction', () => {
    const outpoint = Buffer.alloc(36, 0x5a);
    const lows = new Set<number>();
    const highs = new Set<number>();
    for (let index = 0; index < 20_000; index++) {
      outpoint.writeUInt32LE(index, 32);
      of(outpoint);
      lows.add(fingerprint.low);
      highs.add(fingerprint.high);
    }
    expect(lows.size).toBe(20_000);
    expect(highs.size).toBe(20_000);
  });

  test('spread evenly over the lower bits', () => {
    const buckets = new Uint32Array(64);
    const outpoint = Buffer.alloc(36);
    for (let index = 0; index < 64_000; index++) {
      outpoint.writeUInt32LE(Math.imul(index, 0x9e3779b1) >>> 0, 4);
      of(outpoint);
      const bucket = fingerprint.low & 63;
      buckets[bucket] = buckets[bucket]! + 1;
    }
    expect(Math.min(...buckets)).toBeGreaterThan(800);
    expect(Math.max(...buckets)).toBeLessThan(1200);
  });

  test('need a key of 32 bytes', () => {
    expect(() => expandFingerprintKey(new Uint8Array(31))).toThrow(RangeError);
  });
});
