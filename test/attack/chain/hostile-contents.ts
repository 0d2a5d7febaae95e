import { brotliCompressSync, constants } from 'node:zlib';
import { type Envelope, tag } from '#test/builders/envelope.ts';

const megabyte = 1_000_000;

/** Size in bytes to which `content-encoding: br` expands for a reader. */
const bombBytes = 100 * megabyte;

export function contentOf(type: string, body: Uint8Array | string, encoding?: string): Envelope {
  const fields: [number, Uint8Array][] = [[tag.contentType, Buffer.from(type)]];
  if (encoding !== undefined) fields.push([tag.contentEncoding, Buffer.from(encoding)]);
  return { fields, body: Buffer.from(body) };
}

/** A content of some hundred bytes of brotli. It decodes to 100 MB of text. */
export function brotliBomb(): Envelope {
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 5 };
  return contentOf(
    'text/plain;charset=utf-8',
    brotliCompressSync(Buffer.alloc(bombBytes, 'a'), { params }),
    'br',
  );
}

/** Pages that use up the resources of a visitor's browser: time, memory, frames, requests. */
export const hostilePages: readonly (readonly [name: string, type: string, body: string])[] = [
  ['loop', 'text/html;charset=utf-8', '<script>for(;;);</script>'],
  ['memory', 'text/html;charset=utf-8', '<script>a=[];for(;;)a.push(new Array(1e6).fill(1))</script>'],
  [
    'frames',
    'text/html;charset=utf-8',
    '<script>for(let i=0;i<1000;i++)document.body.append(Object.assign(document.createElement("iframe"),' +
      '{src:location.href}))</script><body>',
  ],
  [
    'requests',
    'text/html;charset=utf-8',
    '<script>setInterval(()=>{for(let i=0;i<100;i++)fetch("/r/blockheight?"+Math.random())},10)</script>',
  ],
  ['deep', 'text/html;charset=utf-8', '<div>'.repeat(50_000)],
  [
    'laughs',
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg"><defs><g id="g0"><circle r="1"/></g>${Array.from(
      { length: 12 },
      (_, level) => `<g id="g${level + 1}">${`<use href="#g${level}"/>`.repeat(10)}</g>`,
    ).join('')}</defs><use href="#g12"/></svg>`,
  ],
];
