import { writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { type Drawing, type DrawingOrder, drawnPixelsMax } from './drawing.ts';

/**
 * A process that decodes images of strangers and nothing else: no environment, no connection, one image at a time. It
 * ends itself beyond its memory, and its parent ends it beyond its time (thumbnail-drawer.ts).
 */

/** Width and height at most: a card of a list, on a screen with two dots a pixel. */
const edge = 400;
const quality = 80;
/** JPEG has no transparency. */
const paper = '#ffffff';
/** An image of pixels is drawn larger with sharp edges up to here. */
const pixelArtEdge = edge / 2;
/** Of this process. */
const memoryBytes = Number(process.argv[2]);
/** How often memory is looked at, in milliseconds: a decoder fills some hundred megabytes in a tenth of a second. */
const lookEveryMs = 10;

// of an image there is nothing to use again
sharp.cache(false);
sharp.concurrency(1);
// libvips knows forty formats; these are what browsers show, and neither SVG nor PDF is among them
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadHeifBuffer',
  ],
});

giveWayToOthers();
setInterval(endBeyondMemory, lookEveryMs).unref();
process.on('disconnect', () => process.exit());
process.on('message', (order: DrawingOrder) => void answer(order));

async function answer({ number, image }: DrawingOrder): Promise<void> {
  process.send?.({ number, drawing: await draw(image) });
}

/** The first frame, upright, within the edges. */
async function draw(image: Buffer): Promise<Drawing> {
  try {
    const opened = sharp(image, { limitInputPixels: drawnPixelsMax, pages: 1, failOn: 'error' });
    const { width, height } = await opened.metadata();
    const largest = Math.max(width, height);
    const isPixelArt = largest <= pixelArtEdge;
    const size = isPixelArt ? largest * Math.floor(edge / largest) : edge;
    const jpeg = await opened
      .autoOrient()
      .resize(size, size, {
        fit: 'inside',
        kernel: isPixelArt ? 'nearest' : 'lanczos3',
        withoutEnlargement: !isPixelArt,
      })
      .flatten({ background: paper })
      .jpeg({ quality, chromaSubsampling: isPixelArt ? '4:4:4' : '4:2:0' })
      .toBuffer();
    return { kind: 'jpeg', jpeg };
  } catch {
    // every error is about these bytes
    return { kind: 'none' };
  }
}

/** Where memory of the machine runs out, Linux ends this process first. */
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
