import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import type { PictureForm } from '#http/thumbnails/drawing.ts';
import { ThumbnailDrawer } from '#http/thumbnails/thumbnail-drawer.ts';

let drawer: ThumbnailDrawer;

afterEach(() => drawer.close());

const image = async (): Promise<Buffer> =>
  sharp({ create: { width: 50, height: 50, channels: 3, background: '#123456' } })
    .png()
    .toBuffer();

const order = (image: Buffer, form: PictureForm = 'jpeg') => ({ image, kind: 'pixels' as const, form });
const svg = (text: string, form: PictureForm = 'webp') => ({
  image: Buffer.from(text),
  kind: 'svg' as const,
  form,
});

/** Ids of the decoder processes that this process started. */
const decoders = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => {
      try {
        const parent = /^\d+ \(.*\) \S (\d+)/su.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
        const isOurs = parent === String(process.pid);
        return isOurs && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('draw-thumbnail.worker');
      } catch {
        // the process has ended meanwhile
        return false;
      }
    })
    .map(Number);

test('when a decoder ends, its image is given up, and the next image gets a new one', async () => {
  drawer = new ThumbnailDrawer();
  expect((await drawer.draw(order(await image()))).kind).toBe('picture');
  const [first] = decoders();
  process.kill(first!, 'SIGSTOP');
  const stopped = drawer.draw(order(await image()));
  process.kill(first!, 'SIGKILL');
  expect(await stopped).toEqual({ kind: 'given up' });
  expect((await drawer.draw(order(await image()))).kind).toBe('picture');
  expect(decoders()).not.toContain(first);
  expect(drawer.counts).toEqual({ tried: 3, givenUp: 1 });
});

test('an image that takes too long is given up, with its process', async () => {
  drawer = new ThumbnailDrawer({ drawMs: 1 });
  expect(await drawer.draw(order(await image()))).toEqual({ kind: 'given up' });
  await expect.poll(decoders).toEqual([]);
});

test('an image that takes too much memory is given up, and the next one is drawn', {
  tags: ['proof'],
}, async () => {
  // interlaced, so it is decoded completely, which takes 288 MB
  const large = await sharp({ create: { width: 6000, height: 6000, channels: 4, background: '#12345678' } })
    .toColourspace('rgb16')
    .png({ progressive: true, compressionLevel: 1 })
    .toBuffer();
  drawer = new ThumbnailDrawer({ drawMs: 60_000, memoryBytes: 250_000_000 });
  expect(await drawer.draw(order(large))).toEqual({ kind: 'given up' });
  expect((await drawer.draw(order(await image()))).kind).toBe('picture');
});

const drawing = (shapes: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">${shapes}</svg>`;

/** Whether a drawing contains anything red. */
async function isRed(drawn: Awaited<ReturnType<ThumbnailDrawer['draw']>>): Promise<boolean> {
  if (drawn.kind !== 'picture') return false;
  const { channels } = await sharp(drawn.picture).stats();
  return (channels[0]?.max ?? 0) > 200;
}

test('a drawing reads neither files nor other servers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svg-'));
  const red = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer();
  await writeFile(join(folder, 'red.png'), red);
  await writeFile(join(folder, 'red.svg'), drawing('<rect id="red" width="9" height="9" fill="red"/>'));
  await writeFile(join(folder, 'red.css'), 'rect { fill: red }');
  const file = `file://${folder}/red`;
  drawer = new ThumbnailDrawer();
  const black = '<rect width="1" height="1"/>';
  for (const shapes of [
    `<image href="${file}.png" width="9" height="9"/>`,
    `<image xlink:href="${folder}/red.png" width="9" height="9"/>`,
    `<image href="${file}.svg" width="9" height="9"/>`,
    `<use href="${file}.svg#red"/>`,
    `<style>@import url("${file}.css");</style>`,
    `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${file}.svg"/>`,
  ]) {
    expect(await isRed(await drawer.draw(svg(drawing(shapes + black)))), shapes).toBe(false);
  }
  const entity = `<!DOCTYPE svg [<!ENTITY x SYSTEM "${file}.svg">]>${drawing(`&x;${black}`)}`;
  expect(await isRed(await drawer.draw(svg(entity)))).toBe(false);
  const inside = `<image href="data:image/png;base64,${red.toString('base64')}" width="9" height="9"/>`;
  expect(await isRed(await drawer.draw(svg(drawing(inside))))).toBe(true);
  await rm(folder, { recursive: true });
});

test('an endlessly growing drawing is not drawn, but the next one is', async () => {
  // the limit includes the start of the process, which is slow on a busy machine
  drawer = new ThumbnailDrawer({ drawMs: 4_000 });
  const entities = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const laughs = entities
    .map((name, at) => `<!ENTITY ${name} "${(at === 0 ? 'ha' : `&${entities[at - 1]};`).repeat(10)}">`)
    .join('');
  expect(await drawer.draw(svg(`<!DOCTYPE svg [${laughs}]>${drawing('<text>&h;</text>')}`))).toEqual({
    kind: 'none',
  });
  const groups = entities
    .map((name, at) =>
      at === 0
        ? `<g id="a"><rect width="1" height="1"/></g>`
        : `<g id="${name}">${`<use href="#${entities[at - 1]}"/>`.repeat(20)}</g>`,
    )
    .join('');
  expect((await drawer.draw(svg(drawing(groups)))).kind).not.toBe('picture');
  expect(await drawer.draw(svg(drawing('')))).toEqual({ kind: 'none' });
  expect(await drawer.draw(svg('not a drawing'))).toEqual({ kind: 'none' });
  expect(await isRed(await drawer.draw(svg(drawing('<circle r="5" fill="red"/>'))))).toBe(true);
});

test('an SVG is not drawn in place of an image of pixels', async () => {
  drawer = new ThumbnailDrawer();
  const { image: text } = svg(drawing('<circle r="5" fill="red"/>'));
  expect(await drawer.draw(order(text))).toEqual({ kind: 'none' });
});

test('a decoder gets no variable of the service’s environment', async () => {
  drawer = new ThumbnailDrawer();
  await drawer.draw(order(await image()));
  const [decoder] = decoders();
  const environment = readFileSync(`/proc/${decoder!}/environ`, 'utf8').split('\0').filter(Boolean);
  expect(environment.map((entry) => entry.split('=')[0]!)).toSatisfy((names: string[]) =>
    names.every((name) => name.startsWith('NODE_CHANNEL_')),
  );
});
