import { readdirSync, readFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import { ThumbnailDrawer } from '#http/thumbnails/thumbnail-drawer.ts';

let drawer: ThumbnailDrawer;

afterEach(() => drawer.close());

const image = async (): Promise<Buffer> =>
  sharp({ create: { width: 50, height: 50, channels: 3, background: '#123456' } })
    .png()
    .toBuffer();

/** Processes that decode for this one. */
const decoders = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => {
      try {
        const parent = /^\d+ \(.*\) \S (\d+)/su.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
        const isOurs = parent === String(process.pid);
        return isOurs && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('draw-thumbnail.worker');
      } catch {
        // it ended meanwhile
        return false;
      }
    })
    .map(Number);

test('a decoder that ends gives its image up, and the next image has a new one', async () => {
  drawer = new ThumbnailDrawer();
  expect((await drawer.draw(await image())).kind).toBe('jpeg');
  const [first] = decoders();
  process.kill(first!, 'SIGSTOP');
  const stopped = drawer.draw(await image());
  process.kill(first!, 'SIGKILL');
  expect(await stopped).toEqual({ kind: 'given up' });
  expect((await drawer.draw(await image())).kind).toBe('jpeg');
  expect(decoders()).not.toContain(first);
  expect(drawer.counts).toEqual({ tried: 3, givenUp: 1 });
});

test('an image that takes too long is given up, with its process', async () => {
  drawer = new ThumbnailDrawer({ drawMs: 1 });
  expect(await drawer.draw(await image())).toEqual({ kind: 'given up' });
  await expect.poll(decoders).toEqual([]);
});

test('an image that takes too much memory is given up, and the next one is drawn', async () => {
  // interlaced, so it is decoded whole: 288 MB
  const large = await sharp({ create: { width: 6000, height: 6000, channels: 4, background: '#12345678' } })
    .toColourspace('rgb16')
    .png({ progressive: true, compressionLevel: 1 })
    .toBuffer();
  drawer = new ThumbnailDrawer({ drawMs: 60_000, memoryBytes: 250_000_000 });
  expect(await drawer.draw(large)).toEqual({ kind: 'given up' });
  expect((await drawer.draw(await image())).kind).toBe('jpeg');
});

test('a decoder has nothing of the environment of the service', async () => {
  drawer = new ThumbnailDrawer();
  await drawer.draw(await image());
  const [decoder] = decoders();
  const environment = readFileSync(`/proc/${decoder!}/environ`, 'utf8').split('\0').filter(Boolean);
  expect(environment.map((entry) => entry.split('=')[0]!)).toSatisfy((names: string[]) =>
    names.every((name) => name.startsWith('NODE_CHANNEL_')),
  );
});
