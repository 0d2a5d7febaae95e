import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { svgNeeds, withReferences } from '#http/thumbnails/svg-art.ts';

const id = `${'ab'.repeat(32)}i0`;
const image = (href: string): string => `<svg><image href="${href}"/></svg>`;

describe('svgNeeds', () => {
  test.each([
    ['<svg><rect/></svg>', 'none'],
    ['<svg><script>x</script></svg>', 'scripts'],
    ['<svg><SCRIPT href="x"/></svg>', 'scripts'],
    ['<svg:svg><svg:script/></svg:svg>', 'scripts'],
    ['<svg><foreignObject/></svg>', 'scripts'],
    ['<svg><text>a script</text></svg>', 'none'],
    [image(`/content/${id}`), 'inscriptions'],
    [image(`https://ordinals.com/content/${id}`), 'inscriptions'],
    [`<svg><style>rect{fill:url(/content/${id})}</style></svg>`, 'inscriptions'],
    [`<svg><text>/content/${id}</text></svg>`, 'none'],
  ])('%s: %s', (svg, kind) => {
    expect(svgNeeds(svg).kind).toBe(kind);
  });

  test('names each inscription once', () => {
    const both = image(`/content/${id}`) + image(`/content/${id.toUpperCase().replace('I', 'i')}`);
    expect(svgNeeds(both)).toMatchObject({ ids: [{ index: 0 }] });
  });

  test('has an answer for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (svg) => typeof svgNeeds(svg).kind === 'string'));
  });
});

describe('withReferences', () => {
  test('replaces addresses by images, and keeps unknown addresses', () => {
    expect(withReferences(image(`/content/${id}`), () => 'data:x', 1_000)).toBe(image('data:x'));
    expect(withReferences(image(`/content/${id}`), () => null, 1_000)).toBe(image(`/content/${id}`));
  });

  test('gives up if one image is named too often', () => {
    const often = image(`/content/${id}`).repeat(1_000);
    expect(withReferences(often, () => 'x'.repeat(1_000), 200_000)).toBeNull();
  });
});
