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
 * A process that only decodes images of strangers. It has no environment and no connection, and decodes one image at a
 * time. The process ends itself if it uses too much memory. Its parent ends the process if the process takes too long
 * (thumbnail-drawer.ts).
 */

/**
 * Maximum width and height of a thumbnail, in pixels. It is enough for a card of a list on a screen with two dots per
 * pixel.
 */
const edge = 400;
const quality = 80;
/** Colour of the background of JPEGs, because JPEG has no transparency. */
const paper = '#ffffff';
/** Maximum width and height of images that are treated as pixel art. Pixel art is enlarged with sharp edges. */
const pixelArtEdge = edge / 2;
/** Memory limit of this process in bytes. */
const memoryBytes = Number(process.argv[2]);
/** How often the memory is checked, in ms. A decoder fills some hundred megabytes in a tenth of a second. */
const lookEveryMs = 10;

// do not cache anything, because no part of an image is used a second time
sharp.cache(false);
sharp.concurrency(1);
// allow only those of libvips' forty formats that browsers show, without PDF
const loaders = {
  pixels: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadHeifBuffer',
  ],
  // an SVG in memory has no URL, so it cannot load files or anything from other servers, but only its own `data:` URLs
  svg: ['VipsForeignLoadSvgBuffer'],
  // thumbnails and icons that this service made
  card: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'],
} as const;
/**
 * Dots per inch to try. The first is the density of browsers. The second is a lower density for drawings that are too
 * large.
 */
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

/** Draws the first frame, upright, scaled to fit into `edge`. */
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
    // all errors here are about these bytes
    return { kind: 'none' };
  }
}

/**
 * Draws an SVG at the scale of the thumbnail. If the result has no visible pixels, there is no picture, because the art
 * needs scripts or appears only after some time.
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
      // except for the pixel limit, all errors are about these bytes, so another density would not help
      if (!String(error).includes('pixel limit')) break;
    }
  }
  return { kind: 'none' };
}

/** Whether at least one pixel is not fully transparent. A pixel has four bytes. */
function isVisible(pixels: Buffer): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return true;
  return false;
}

/**
 * Writes an image.
 *
 * @param isSharp whether the image has edges that coarser colours would blur
 */
async function written(image: Sharp, form: ImageOrder['form'], isSharp: boolean): Promise<Buffer> {
  return form === 'webp'
    ? image.webp({ quality, smartSubsample: isSharp, effort: 2 }).toBuffer()
    : image
        .flatten({ background: paper })
        .jpeg({ quality, chromaSubsampling: isSharp ? '4:4:4' : '4:2:0' })
        .toBuffer();
}

/** Makes Linux end this process first if the machine has no memory left, so that other processes survive. */
function giveWayToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // a sandbox may forbid this; the memory limit works anyway
  }
}

function endBeyondMemory(): void {
  if (process.memoryUsage.rss() > memoryBytes) process.exit(1);
}
