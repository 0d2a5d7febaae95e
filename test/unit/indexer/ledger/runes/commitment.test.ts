import { describe, expect, test } from 'vitest';
import { parseRune, runeCommitment } from '#kernel/runes/rune.ts';
import { push } from '#test/unit/indexer/parse/synthetic-block.ts';
import { commits } from './committing.ts';

describe('the name A, whose number is 0', () => {
  test('has a commitment of zero bytes', () => {
    expect(runeCommitment(parseRune('A')!)).toEqual(new Uint8Array());
    expect(runeCommitment(parseRune('B')!)).toEqual(Uint8Array.of(1));
  });

  test.each<[string, readonly number[]]>([
    ['OP_0', [0x00]],
    ['OP_PUSHDATA1 of nothing', [0x4c, 0]],
    ['OP_PUSHDATA2 of nothing', [0x4d, 0, 0]],
    ['OP_PUSHDATA4 of nothing', [0x4e, 0, 0, 0, 0]],
    ['OP_0 after another push', [...push('other'), 0x00]],
    ['the OP_0 of an envelope', [0x00, 0x63, 0x68]],
    ['OP_0 before a push that is cut off', [0x00, 0x05, 1]],
  ])('is committed to by %s', (_words, leaf) => {
    expect(commits('A', Uint8Array.from(leaf))).toBe(true);
    expect(commits('B', Uint8Array.from(leaf))).toBe(false);
  });

  test.each<[string, readonly number[]]>([
    ['an empty script', []],
    ['OP_1', [0x51]],
    ['a push of a zero byte', [...push(Uint8Array.of(0))]],
    ['the push of B', [...push(Uint8Array.of(1))]],
    ['OP_0 after a push that is cut off', [0x4c, 0xff, 0x00]],
    ['a zero byte inside a push', [0x02, 0x00, 0x00]],
  ])('is not committed to by %s', (_words, leaf) => {
    expect(commits('A', Uint8Array.from(leaf))).toBe(false);
  });

  test('needs an old P2TR output, as every name does', () => {
    const leaf = Uint8Array.of(0);
    expect(commits('A', leaf, { spent: Buffer.from([0x51, 0x20]) })).toBe(false);
    expect(commits('A', leaf, { spent: Buffer.alloc(34) })).toBe(false);
    expect(commits('A', leaf, { isRecent: true })).toBe(false);
  });
});
