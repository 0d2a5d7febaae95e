import { describe, expect, test } from 'vitest';
import { mediaOf } from '#web/media.ts';

describe('mediaOf', () => {
  test.each([
    ['text/plain;charset=utf-8', 'text'],
    ['TEXT/HTML ; charset=utf-8', 'frame'],
    ['image/svg+xml', 'frame'],
    ['image/svg', 'image'],
    ['model/gltf+json', 'text'],
    ['application/pdf', 'other'],
    ['text', 'text'],
    ['', 'other'],
    [null, 'other'],
  ])('of %j is %s', (contentType, media) => {
    expect(mediaOf(contentType)).toBe(media);
  });

  // anyone may inscribe content types like these
  test.each(['constructor', '__proto__', 'constructor/x', '__proto__/x'])(
    'of %j, which every object has, is other',
    (contentType) => {
      expect(mediaOf(contentType)).toBe('other');
    },
  );
});
