import { writeFileSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import { drawCard } from './draw-card.ts';
import {
  type AnyOrder,
  type Drawing,
  type DrawingOrder,
  drawnPixelsMax,
  type ImageOrder,
} from './drawing.ts';

/**
 * A process that only decodes images of strangers: no environment, no connection, one image at a time. It ends itself
 * beyond its memory, and its parent ends it beyond its time (thumbnail-drawer.ts).
 */

/** Maximum width and height: a card of a list, on a screen with two dots per pixel. */
const edge = 400;
const quality = 80;
/** Colour of the background, because JPEG has no transparency. */
const paper = '#ffffff';
/** Largest edge of pixel art, which is enlarged with sharp edges. */
const pixelArtEdge = edge / 2;
/** Memory limit of this process. */
const memoryBytes = Number(process.argv[2]);
/** Milliseconds between checks of the memory: a decoder fills some hundred megabytes in a tenth of a second. */
const lookEveryMs = 10;

// no part of an image is used again
sharp.cache(false);
sharp.concurrency(1);
// libvips knows forty formats; these are the ones that browsers show, without PDF
const loaders = {
  pixels: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadHeifBuffer',
  ],
  // an SVG from memory has no address, so it loads no file and no other server: only its own `data:`
  svg: ['VipsForeignLoadSvgBuffer'],
  // thumbnails and icons of ours
  card: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'],
} as const;
/** Dots per inch: that of browsers, and one for drawings that are too large. */
const densities = [72, 4] as const;

giveWayToOthers();
setInterval(endBeyondMemory, lookEveryMs).unref();
process.on('disconnect', () => process.exit());
process.on('message', (order: DrawingOrder) => void answer(order));

async function answer({ number, ...order }: DrawingOrder): Promise<void> {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: [...loaders[order.kind]] });
  process.send?.({ number, drawing: await draw(order) });
}

async function draw(order: AnyOrder): Promise<Drawing> {
  if (order.kind === 'card') return drawCard(order);
  return order.kind === 'svg' ? drawSvg(order) : drawPixels(order);
}

/** Draws the first frame, upright, within the edges. */
async function drawPixels({ image, form }: ImageOrder): Promise<Drawing> {
  try {
    const opened = sharp(image, { limitInputPixels: drawnPixelsMax, pages: 1, failOn: 'error' });
    const { width, height } = await opened.metadata();
    const largest = Math.max(width, height);
    const isPixelArt = largest <= pixelArtEdge;
    const size = isPixelArt ? largest * Math.floor(edge / largest) : edge;
    const sized = opened.autoOrient().resize(size, size, {
      fit: 'inside',
      kernel: isPixelArt ? 'nearest' : 'lanczos3',
      withoutEnlargement: !isPixelArt,
    });
    return { kind: 'picture', picture: await written(sized, form, isPixelArt) };
  } catch {
    // every error is about these bytes
    return { kind: 'none' };
  }
}

/**
 * Draws an SVG, scaled before it is drawn. A result without visible pixels becomes no picture: its art needs scripts,
 * or time to pass.
 */
async function drawSvg({ image, form }: ImageOrder): Promise<Drawing> {
  for (const density of densities) {
    try {
      const drawn = await sharp(image, { limitInputPixels: drawnPixelsMax, density })
        .resize(edge, edge, { fit: 'inside' })
        .ensureAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      const { width, height } = drawn.info;
      if (!isVisible(drawn.data)) return { kind: 'none' };
      const pixels = sharp(drawn.data, { raw: { width, height, channels: 4 } });
      return { kind: 'picture', picture: await written(pixels, form, true) };
    } catch (error) {
      // every other error is about these bytes, at any density
      if (!String(error).includes('pixel limit')) break;
    }
  }
  return { kind: 'none' };
}

/** Whether any of these pixels, four bytes each, is not transparent. */
function isVisible(pixels: Buffer): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return true;
  return false;
}

/**
 * Writes an image.
 *
 * @param isSharp with edges that a coarser colour would blur
 */
async function written(image: Sharp, form: ImageOrder['form'], isSharp: boolean): Promise<Buffer> {
  return form === 'webp'
    ? image.webp({ quality, smartSubsample: isSharp, effort: 2 }).toBuffer()
    : image
        .flatten({ background: paper })
        .jpeg({ quality, chromaSubsampling: isSharp ? '4:4:4' : '4:2:0' })
        .toBuffer();
}

/** Makes Linux end this process first if the machine runs out of memory. */
function giveWayToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // a sandbox may forbid it, and the bound holds without it
  }
}

function endBeyondMemory(): void {
  if (process.memoryUsage.rss() > memoryBytes) process.exit(1);
}
