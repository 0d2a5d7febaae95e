import { crc32, deflateSync } from 'node:zlib';

/** Makes images of several formats that have few bytes and any number of pixels. */

const u16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};
const u16le = (value: number): Buffer => u16(value).reverse();
const u24le = (value: number): Buffer => Buffer.from([value & 255, (value >> 8) & 255, value >> 16]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u32le = (value: number): Buffer => u32(value).reverse();
const text = (value: string): Buffer => Buffer.from(value, 'latin1');

function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([text(name), data]);
  return Buffer.concat([u32(data.length), named, u32(crc32(named))]);
}

/** A PNG with one shade of grey. If `rows` equals the height, browsers decode the complete image. */
export function png(width: number, height: number, { rows = 0 }: { rows?: number } = {}): Buffer {
  const data = deflateSync(Buffer.alloc(rows * (1 + width)), { level: 9 });
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([8, 0, 0, 0, 0])]);
  return Buffer.concat([
    text('\x89PNG\r\n\x1a\n'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A GIF with only one frame, which has one pixel or claims to be larger than the GIF's screen. */
export function gif(
  width: number,
  height: number,
  {
    frame = [1, 1],
    comment = 0,
    colours = true,
  }: { frame?: [number, number]; comment?: number; colours?: boolean } = {},
): Buffer {
  const comments = Array.from({ length: comment }, () =>
    Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 'x')]),
  );
  return Buffer.concat([
    text('GIF89a'),
    u16le(width),
    u16le(height),
    Buffer.from([colours ? 0x80 : 0, 0, 0]),
    Buffer.alloc(colours ? 6 : 0),
    Buffer.from([0x21, 0xfe]),
    ...comments,
    Buffer.from([0, 0x2c, 0, 0, 0, 0]),
    u16le(frame[0]),
    u16le(frame[1]),
    Buffer.from([0, 2, 2, 0x44, 1, 0, 0x3b]),
  ]);
}

const riff = (...chunks: Buffer[]): Buffer => {
  const data = Buffer.concat([text('WEBP'), ...chunks]);
  return Buffer.concat([text('RIFF'), u32le(data.length), data]);
};
const riffChunk = (name: string, data: Buffer): Buffer =>
  Buffer.concat([text(name), u32le(data.length), data]);

/** The frame of a real WebP of 5 × 3 pixels. Tests replace its size. */
const lossy = Buffer.from(
  '900100 9d012a 0500 0300 074096 25a00274 ba000398 00fee50a f827a972 8ffe378f 02bc9763 a00000'.replaceAll(
    ' ',
    '',
  ),
  'hex',
);

export const webp = {
  lossy: (width: number, height: number): Buffer =>
    riff(
      riffChunk(
        'VP8 ',
        Buffer.concat([lossy.subarray(0, 6), u16le(width), u16le(height), lossy.subarray(10)]),
      ),
    ),
  lossless: (width: number, height: number): Buffer =>
    riff(
      riffChunk(
        'VP8L',
        Buffer.concat([
          Buffer.from([0x2f]),
          u32le((((height - 1) << 14) | (width - 1)) >>> 0),
          Buffer.from('000710fd8ffe0722a2ff0100', 'hex'),
        ]),
      ),
    ),
  extended: (width: number, height: number): Buffer =>
    riff(riffChunk('VP8X', Buffer.concat([Buffer.alloc(4), u24le(width - 1), u24le(height - 1)]))),
};

const segment = (marker: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), u16(data.length + 2), data]);

/** The beginning of a JPEG, with a profile of some bytes before its frame. */
export function jpeg(
  width: number,
  height: number,
  { profile = 0, marker = 0xc0 }: { profile?: number; marker?: number } = {},
): Buffer {
  const profiles = Array.from({ length: Math.ceil(profile / 60_000) }, () =>
    segment(0xe2, Buffer.alloc(60_000, 0xff)),
  );
  const frame = Buffer.concat([Buffer.from([8]), u16(height), u16(width), Buffer.from([1, 1, 0x11, 0])]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, text('JFIF\0\x01\x01\0\0\x01\0\x01\0\0')),
    ...profiles,
    segment(0xc4, Buffer.alloc(20)),
    Buffer.from([0xff, 0xff]),
    segment(marker, frame),
    Buffer.from([0xff, 0xd9]),
  ]);
}

export function bmp(width: number, height: number): Buffer {
  const header = Buffer.concat([u32le(40), u32le(width), u32le(height >>> 0), Buffer.alloc(28)]);
  return Buffer.concat([text('BM'), Buffer.alloc(8), u32le(54), header]);
}

const box = (name: string, ...data: Buffer[]): Buffer => {
  const all = Buffer.concat(data);
  return Buffer.concat([u32(all.length + 8), text(name), all]);
};

/** The boxes of an AVIF that name sizes, after a picture of some bytes. */
export function avif(
  sizes: readonly (readonly [number, number])[],
  { data = 0 }: { data?: number } = {},
): Buffer {
  const properties = sizes.map(([width, height]) => box('ispe', u32(0), u32(width), u32(height)));
  return Buffer.concat([
    box('ftyp', text('avif'), u32(0), text('avifmif1')),
    box('mdat', Buffer.alloc(data)),
    box('meta', u32(0), box('iprp', box('ipco', ...properties))),
  ]);
}

/** The boxes of an AVIF sequence. */
export function avifSequence(width: number, height: number): Buffer {
  const entry = box('av01', Buffer.alloc(24), u16(width), u16(height), Buffer.alloc(50));
  return Buffer.concat([
    box('ftyp', text('avis'), u32(0), text('avisavif')),
    box('moov', box('stsd', u32(0), u32(1), entry)),
  ]);
}
