import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html } from '#web/html.ts';

describe('html', () => {
  test('escapes every value', () => {
    const text = `<script>alert("1" + '2') && 3</script>`;
    expect(html`<p title="${text}">${text}</p>`.text).toBe(
      '<p title="&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;) &amp;&amp; 3&lt;/script&gt;">&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;) &amp;&amp; 3&lt;/script&gt;</p>',
    );
  });

  test('lets no text begin a tag, an entity or the end of an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = html`${text}`.text;
        expect(shown).not.toMatch(/[<>"'\0]/u);
        expect(shown.replaceAll(/&(?:amp|lt|gt|quot|#39);/gu, '')).not.toContain('&');
      }),
    );
  });

  test('keeps markup, joins lists and leaves out empty values', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}`.text).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul>0',
    );
  });
});
