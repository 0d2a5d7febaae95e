import { constantFrom, property, assert as propertyHolds, uint8Array } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { imageSize } from '#http/content/image-size.ts';
import { avif, avifSequence, bmp, gif, jpeg, png, webp } from '#test/builders/images.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const whole = (bytes: Buffer): unknown => imageSize(bytes, true);

test.each([
  ['PNG', png],
  ['GIF', gif],
  ['GIF without colours', (width: number, height: number) => gif(width, height, { colours: false })],
  ['lossy WebP', webp.lossy],
  ['lossless WebP', webp.lossless],
  ['extended WebP', webp.extended],
  ['JPEG', jpeg],
  ['progressive JPEG', (width: number, height: number) => jpeg(width, height, { marker: 0xc2 })],
  ['BMP', bmp],
  [
    'AVIF',
    (width: number, height: number) =>
      avif([
        [1, 1],
        [width, height],
      ]),
  ],
  ['AVIF sequence', avifSequence],
])('%s', (_name, make) => {
  expect(whole(make(300, 70))).toEqual({ width: 300, height: 70 });
  expect(whole(make(16_383, 16_000))).toEqual({ width: 16_383, height: 16_000 });
});

describe('the size', () => {
  test('of a GIF is that of its first frame, if it is larger than the screen', () => {
    expect(whole(gif(1, 1, { frame: [65_535, 65_535] }))).toEqual({ width: 65_535, height: 65_535 });
  });

  test('of the smallest images is read', () => {
    const dot = Buffer.from('474946383961010001000000002c00000000010001000002003b', 'hex');
    expect(whole(dot)).toEqual({ width: 1, height: 1 });
  });

  test('of a BMP with rows from the top', () => {
    expect(whole(bmp(50_000, -50_000))).toEqual({ width: 50_000, height: 50_000 });
  });

  test('of a JPEG with its height after the first scan is the largest', () => {
    expect(whole(jpeg(65_500, 0))).toEqual({ width: 65_500, height: 65_535 });
  });

  test.each([
    ['JPEG', jpeg(300, 70, { profile: 500_000 })],
    ['GIF', gif(300, 70, { comment: 1_000 })],
    ['AVIF', avif([[300, 70]], { data: 300_000 })],
  ])('of a %s may be far after its beginning', (_name, bytes) => {
    expect(imageSize(bytes.subarray(0, 200_000), false)).toBe('more');
    expect(whole(bytes)).toEqual({ width: 300, height: 70 });
  });

  test.each([
    ['a text', Buffer.from('this is not an image at all, but a longer text')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
    ['nothing', Buffer.alloc(0)],
    [
      'a PNG without a header',
      Buffer.concat([png(1, 1).subarray(0, 12), Buffer.from('IDAT'), Buffer.alloc(40)]),
    ],
    ['a cut JPEG', jpeg(300, 70).subarray(0, 40)],
    ['a JPEG without a frame', Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xda]), Buffer.alloc(40)])],
    ['a cut GIF', gif(300, 70, { comment: 2 }).subarray(0, 100)],
    ['a WebP of another kind', Buffer.concat([Buffer.from('RIFF    WEBPABCD'), Buffer.alloc(40)])],
    ['an AVIF without sizes', avif([])],
  ])('of %s is unknown', (_name, bytes) => {
    expect(whole(bytes)).toBeNull();
  });
});

test('any bytes after any beginning give an answer', () => {
  const beginnings = [
    png(1, 1),
    gif(1, 1),
    jpeg(1, 1),
    webp.lossy(1, 1),
    bmp(1, 1),
    avif([[1, 1]]),
    Buffer.alloc(0),
  ];
  propertyHolds(
    property(
      constantFrom(...beginnings),
      uint8Array({ maxLength: 100 }),
      uint8Array({ maxLength: 400 }),
      (start, cut, rest) => {
        const bytes = Buffer.concat([start.subarray(0, start.length - cut.length), rest]);
        for (const isWhole of [true, false]) {
          const size = imageSize(bytes, isWhole);
          if (size !== null && size !== 'more') expect(size.width * size.height).toBeGreaterThanOrEqual(0);
          else if (isWhole) expect(size).toBeNull();
        }
      },
    ),
    { numRuns: propertyRuns(2_000) },
  );
});
