import { describe, expect, test } from 'vitest';
import { needlesHeader } from '#http/search/needles-header.ts';
import { answerTag, matchesTag } from '#http/server/answers/conditional.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';

const tip = { height: asHeight(5), hash: asBlockHash(Buffer.alloc(32, 1)), undoEpoch: 0 };

describe('answerTag', () => {
  test('depends on height, hash, undo epoch and URL, and on nothing else', () => {
    const tags = [
      answerTag(tip, '/search?text=a'),
      answerTag(tip, '/search?text=b'),
      answerTag({ ...tip, height: asHeight(6) }, '/search?text=a'),
      answerTag({ ...tip, hash: asBlockHash(Buffer.alloc(32, 2)) }, '/search?text=a'),
      answerTag({ ...tip, undoEpoch: 1 }, '/search?text=a'),
      answerTag(null, '/search?text=a'),
    ];
    expect(new Set(tags).size).toBe(tags.length);
    expect(
      answerTag(
        { height: asHeight(5), hash: asBlockHash(Buffer.alloc(32, 1)), undoEpoch: 0 },
        '/search?text=a',
      ),
    ).toBe(tags[0]);
    expect(tags[0]).toMatch(/^W\/"[\w-]{27}"$/u);
  });
});

describe('matchesTag', () => {
  test.each(['W/"x"', '"x"', '"a", W/"x"', '*', ' "x" '])('of %j', (header) => {
    expect(matchesTag(header, 'W/"x"')).toBe(true);
  });

  test.each([undefined, '', '"y"', 'x', 'W/"X"'])('not of %j', (header) => {
    expect(matchesTag(header, 'W/"x"')).toBe(false);
  });
});

describe('needlesHeader', () => {
  test('returns any needles unchanged', () => {
    const needles = ['a b', '"p":"brc-20"', 'ä,é', '\r\nx: y', '\u0000', '%', '🟠'];
    const value = needlesHeader(needles);
    expect(value).toMatch(/^[\x21-\x7e]+$/u);
    expect(value.split(',').map(decodeURIComponent)).toEqual(needles);
  });

  test('does not throw on half a character', () => {
    expect(needlesHeader(['\ud800'])).toBe('%EF%BF%BD');
  });

  test('is a number if it would be too long', () => {
    expect(needlesHeader(['é'.repeat(1_000), 'b'])).toBe('count=2');
  });
});
