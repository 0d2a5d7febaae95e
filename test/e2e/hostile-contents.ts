import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { avif, bmp, gif, jpeg, png, webp } from '#test/builders/images.ts';
import type { RowSpec } from '#test/support/chain/rows/chain-rows.ts';

const bombBytes = 100_000_000;
// a window of 64 kB is just as good for one letter, and takes a quarter of the time
const brParams = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 16 };
const br = (bytes: Uint8Array | string): Buffer => brotliCompressSync(bytes, { params: brParams });
const side = 50_000;

/** Contents of some bytes that become gigabytes in a browser. `says` is the text that a card shows instead. */
export const bombs: readonly (RowSpec & { readonly says: RegExp })[] = [
  { name: 'text bomb', body: br(Buffer.alloc(bombBytes, 'a')), encoding: 'br', says: /^a{65536}…$/u },
  {
    name: 'html bomb',
    type: 'text/html',
    body: br(Buffer.alloc(bombBytes, '<p>')),
    encoding: 'br',
    says: /decode to more than 16 MB$/u,
  },
  {
    name: 'gzip bomb',
    type: 'text/html',
    body: gzipSync(Buffer.alloc(bombBytes, '<b>')),
    encoding: 'gzip',
    says: /decode to more than 16 MB$/u,
  },
  {
    name: 'zstd bomb',
    type: 'image/svg+xml',
    body: zstdCompressSync(Buffer.alloc(bombBytes, '<g>')),
    encoding: 'zstd',
    says: /decode to more than 16 MB$/u,
  },
  {
    name: 'zstd bomb after a frame',
    type: 'text/html',
    body: Buffer.concat([zstdCompressSync('<p>small'), zstdCompressSync(Buffer.alloc(bombBytes, '<p>'))]),
    encoding: 'zstd',
    says: /do not decode$/u,
  },
  ...(
    [
      ['PNG', 'image/png', png(side, side)],
      ['GIF', 'image/gif', gif(side, side)],
      ['GIF frame', 'image/gif', gif(1, 1, { frame: [side, side] })],
      ['WebP', 'image/webp', webp.extended(side, side)],
      ['JPEG', 'image/jpeg', jpeg(side, side)],
      ['BMP', 'image/bmp', bmp(side, side)],
      ['AVIF', 'image/avif', avif([[side, side]])],
      ['PNG under another name', 'image/webp', png(side, side)],
    ] as const
  ).map(([name, type, body]) => ({
    name: `${name} of ${side} × ${side}`,
    type,
    body,
    says: /^50,000 × 50,000 pixels$/u,
  })),
  {
    name: 'encoded PNG',
    type: 'image/png',
    body: br(png(side, side)),
    encoding: 'br',
    says: /^50,000 × 50,000 pixels$/u,
  },
];

const page = (script: string): RowSpec => ({
  name: '',
  type: 'text/html',
  body: `<!doctype html><script>${script}</script>`,
});
const svg = (content: string): RowSpec => ({
  name: '',
  type: 'image/svg+xml',
  body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${content}</svg>`,
});

/** Circles in ten levels. Each level uses the next level ten times, which makes 10,000,000,000 circles. */
const laughs = Array.from({ length: 10 }, (_, level) => {
  const inner = level === 0 ? '<circle r="9"/>' : `<use href="#l${level - 1}"/>`.repeat(10);
  return `<g id="l${level}">${inner}</g>`;
}).join('');

const filters = `<filter id="f" x="-9" y="-9" width="99" height="99">${'<feTurbulence numOctaves="99" baseFrequency="9"/><feGaussianBlur stdDeviation="999"/><feMorphology operator="dilate" radius="999"/>'.repeat(
  50,
)}</filter>${'<rect width="100" height="100" filter="url(#f)"/>'.repeat(500)}`;

/** Contents that use up everything that a browser gives them. */
export const hogs: Readonly<Record<string, RowSpec>> = {
  'an endless loop': page('for (;;);'),
  'ever more memory': page('const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length + 0.5));'),
  'ever more elements': page(
    'setInterval(() => { for (let i = 0; i < 1e4; i++) document.body.append(document.createElement("video")); });',
  ),
  'ever more workers': page(
    // the workers are idle, because hundreds of busy workers would also stop the test
    'const url = URL.createObjectURL(new Blob(["onmessage = () => {};"])); setInterval(() => new Worker(url), 10);',
  ),
  'a flood of messages': page(
    'setInterval(() => { for (let i = 0; i < 1e4; i++) { parent.postMessage("x".repeat(100), "*"); top.postMessage(new ArrayBuffer(1e4), "*"); } });',
  ),
  'a flood of dialogs and downloads': page(
    `setInterval(() => { alert(1); confirm(1); prompt(1); print();
      const link = Object.assign(document.createElement("a"), { href: "data:application/x-msdownload,MZ", download: "x.exe" });
      document.documentElement.append(link); link.click(); open("/status"); });`,
  ),
  'a flood of requests': page(
    'setInterval(() => { for (let i = 0; i < 20; i++) fetch("/r/blockheight?" + Math.random()).catch(() => {}); }, 20);',
  ),
  'nested uses': svg(`<defs>${laughs}</defs><use href="#l9"/>`),
  'filters of filters': svg(filters),
  'endless animations': svg(
    '<circle r="9"><animate attributeName="r" values="1;99" dur="1ms" repeatCount="indefinite"/></circle>'.repeat(
      20_000,
    ),
  ),
  'frames in frames': {
    name: '',
    type: 'text/html',
    body: '<!doctype html><script>for (let i = 0; i < 20; i++) document.documentElement.append(Object.assign(document.createElement("iframe"), { src: location.href + "#" + i + Math.random() }));</script>',
  },
};

/**
 * A content that adds entries to the history. The browser has no bound for them, so they grow without end while the
 * content runs. Lists run no scripts.
 */
export const addressFlood: RowSpec = page(
  'setInterval(() => { for (let i = 0; i < 500; i++) { history.pushState(null, "", "#" + Math.random()); location.hash = Math.random(); } });',
);
