export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The size of an image. `more` if the given bytes are too few to decide. `null` if the format is not known here, or if
 * the image does not state its size.
 */
export type ImageSizeAnswer = ImageSize | 'more' | null;

/**
 * Reads the size that an image claims, in pixels. Browsers reserve memory for this size before they decode anything.
 * The format is recognised by the bytes, as in browsers, not by the content type. Known formats are PNG, GIF, WebP,
 * JPEG, BMP, AVIF and HEIF.
 *
 * Never throws: any bytes give a result, in time linear in their number.
 *
 * @param bytes the beginning of an image
 * @param isWhole whether these are all bytes of the image
 */
export function imageSize(bytes: Buffer, isWhole: boolean): ImageSizeAnswer {
  if (bytes.length < headerBytes && !isWhole) return 'more';
  // pad short images, because the smallest ones have fewer bytes than `headerBytes`
  const size = sizeByFormat(
    bytes.length < headerBytes ? Buffer.concat([bytes, Buffer.alloc(headerBytes)]) : bytes,
  );
  return size === 'more' && isWhole ? null : size;
}

/**
 * Number of bytes that are needed to read the headers with fixed positions. The longest of these headers has 30 bytes
 * (WebP).
 */
const headerBytes = 32;

function sizeByFormat(bytes: Buffer): ImageSizeAnswer {
  const first = bytes.toString('latin1', 0, 12);
  if (first.startsWith('\x89PNG\r\n\x1a\n')) return pngSize(bytes);
  if (/^GIF8[79]a/u.test(first)) return gifSize(bytes);
  if (first.startsWith('RIFF') && first.endsWith('WEBP')) return webpSize(bytes);
  if (first.startsWith('\xff\xd8')) return jpegSize(bytes);
  if (first.startsWith('BM')) return bmpSize(bytes);
  if (first.startsWith('ftyp', 4)) return heifSize(bytes);
  return null;
}

/**
 * The size of a PNG. Its first chunk must be IHDR; otherwise browsers show nothing (PNG 3, 5.6). The frames of an APNG
 * are not larger than the image.
 */
function pngSize(bytes: Buffer): ImageSize | null {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/**
 * The size of a GIF. It is the size of the screen, or of the first frame if that is larger, because decoders then
 * enlarge the screen (GIF89a, 18 and 20).
 */
function gifSize(bytes: Buffer): ImageSizeAnswer {
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  const flags = bytes.readUInt8(10);
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  // skip extensions, which come before the first frame
  while (bytes[at] === 0x21) {
    at += 2;
    while (bytes[at] !== 0) {
      const length = bytes[at];
      if (length === undefined) return 'more';
      at += 1 + length;
    }
    at += 1;
  }
  // 0x2c begins a frame; any other byte means that the image has no frame
  if (bytes[at] !== undefined && bytes[at] !== 0x2c) return screen;
  if (at + 9 > bytes.length) return 'more';
  return {
    width: Math.max(screen.width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5)),
    height: Math.max(screen.height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7)),
  };
}

/** The size of a WebP. Its position depends on the type of the first chunk (RFC 9649, 2). */
function webpSize(bytes: Buffer): ImageSize | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

/**
 * The size of a JPEG, from the header of the frame. Segments of any length, such as an ICC profile, come before this
 * header (T.81, B.2.2).
 */
function jpegSize(bytes: Buffer): ImageSizeAnswer {
  let at = 2;
  for (;;) {
    // skip bytes between segments, as decoders do
    at = bytes.indexOf(0xff, at);
    if (at === -1) return 'more';
    while (bytes[at] === 0xff) at++;
    const marker = bytes[at++];
    if (marker === undefined || at + 7 > bytes.length) return 'more';
    const kind = jpegMarker(marker);
    if (kind === 'alone') continue;
    if (kind === 'end') return null;
    if (kind === 'frame') {
      // a height of 0 means that the height comes only after the first scan (B.2.5), so the maximum height is assumed
      const height = bytes.readUInt16BE(at + 3);
      return { width: bytes.readUInt16BE(at + 5), height: height === 0 ? 65_535 : height };
    }
    at += Math.max(2, bytes.readUInt16BE(at));
  }
}

/**
 * Kind of a marker. `alone`: a marker without a length. `end`: the image data begins, or the image ends. `frame`: the
 * header with the size. `segment`: any other segment.
 */
function jpegMarker(marker: number): 'alone' | 'end' | 'frame' | 'segment' {
  // markers for escaped data, for restarts, and for the start of an image
  if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd8)) return 'alone';
  if (marker === 0xd9 || marker === 0xda) return 'end';
  // this range also contains the markers of tables (0xc4, 0xcc) and a reserved marker
  const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
  return isFrame ? 'frame' : 'segment';
}

function bmpSize(bytes: Buffer): ImageSize {
  // the oldest header has 16-bit fields for width and height
  if (bytes.readUInt32LE(14) === 12) return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
  // a negative height means that the top row is stored first
  return { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) };
}

/**
 * The largest of all stated sizes: of items (`ispe`, ISO/IEC 23008-12, 6.5.3) and of sequences (`av01` in `stsd`). The
 * sizes may be at the end of the file.
 */
function heifSize(bytes: Buffer): ImageSizeAnswer {
  let largest: ImageSize = { width: 0, height: 0 };
  const take = (width: number, height: number): void => {
    if (width * height > largest.width * largest.height) largest = { width, height };
  };
  for (let at = bytes.indexOf('ispe'); at !== -1; at = bytes.indexOf('ispe', at + 4)) {
    if (at + 16 <= bytes.length) take(bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12));
  }
  for (let at = bytes.indexOf('stsd'); at !== -1; at = bytes.indexOf('stsd', at + 4)) {
    // in `stsd`, `av01` follows the version, the count and the size of the entry; width and height are two bytes each,
    // 28 bytes after the start of `av01`
    if (at + 48 <= bytes.length && bytes.toString('latin1', at + 16, at + 20) === 'av01')
      take(bytes.readUInt16BE(at + 44), bytes.readUInt16BE(at + 46));
  }
  return largest.width === 0 ? 'more' : largest;
}
