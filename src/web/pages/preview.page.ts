import { unreachable } from '#kernel/unreachable.ts';
import { type HtmlValue, html, Markup } from '#web/html.ts';

export type Preview =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'image'; readonly url: string }
  /** `isStill` is true if the preview is in a list, because nothing in a list plays by itself. */
  | { readonly kind: 'audio' | 'video' | 'font'; readonly url: string; readonly isStill: boolean }
  | { readonly kind: 'none'; readonly words: string };

/** A page that shows only one content, for a frame with an opaque origin. It runs no script of this service. */
export function previewPage(preview: Preview): Markup {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="format-detection" content="telephone=no">
<title>Preview</title>
${styles[preview.kind]}
<body>${shown(preview)}</body>
</html>
`;
}

function shown(preview: Preview): HtmlValue {
  switch (preview.kind) {
    case 'text':
      return html`<pre>${preview.text}${preview.isCut && '…'}</pre>`;
    case 'image':
      return html`<img src="${preview.url}" alt="">`;
    case 'audio':
      return html`<audio controls preload="${preview.isStill ? 'none' : 'metadata'}" src="${preview.url}"></audio>`;
    case 'video':
      return preview.isStill
        ? html`<video muted playsinline preload="metadata" src="${preview.url}"></video>`
        : html`<video controls muted loop autoplay playsinline src="${preview.url}"></video>`;
    case 'font':
      return html`<style>@font-face{font-family:inscribed;src:url("${preview.url}")}</style><p>Aa Bb Cc<br>0123456789<br>The quick brown fox</p>`;
    case 'none':
      return html`<p>${preview.words}</p>`;
    default:
      return unreachable(preview);
  }
}

const base = `:root{color-scheme:light dark}html,body{margin:0;height:100%}
body{background:light-dark(#f4f1ea,#17191d);color:light-dark(#2b2a27,#d9d6cf)}`;

const centred = 'body{display:grid;place-items:center;text-align:center}';

const styles: Readonly<Record<Preview['kind'], Markup>> = {
  text: style(
    `pre{margin:0;padding:12px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}`,
  ),
  image: style(
    `${centred}img{width:100%;height:100vh;object-fit:contain;display:block;image-rendering:pixelated}`,
  ),
  audio: style(`${centred}audio{width:92%}`),
  video: style(`${centred}video{width:100%;height:100vh;object-fit:contain;display:block}`),
  font: style(`${centred}p{font:28px/1.4 inscribed,system-ui}`),
  none: style(`${centred}p{font:14px/1.4 system-ui;opacity:.7;margin:12px;overflow-wrap:anywhere}`),
};

function style(rules: string): Markup {
  // safe, because the style contains only constants of this file, and no content of strangers
  return new Markup(`<style>${base}${rules}</style>`);
}
