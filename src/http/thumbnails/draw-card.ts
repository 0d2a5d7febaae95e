import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp, { type OverlayOptions } from 'sharp';
import type { CardOrder, Drawing } from './drawing.ts';

/** Width of the card. The card has the size in which sites show shared links. */
const width = 1200;
const height = 630;
const margin = 72;
/** Width and height of the thumbnail. */
const edge = 400;
const colours = { paper: '#faf7f0', ink: '#221f1a', faint: '#6f675a', accent: '#a84c08' } as const;

/** The font as TTF, because libvips does not read WOFF2. */
const fontfile = fileURLToPath(new URL('../pictures/fonts/serif.ttf', import.meta.url));
const icon = readFileSync(new URL('../../web/assets/icons/icon-192.png', import.meta.url));
const iconEdge = 56;

/** Possible font sizes of a title, in pixels. The largest size that fits is used. */
const titleSizes = [76, 60, 46, 36] as const;
const titleHeight = 250;
const lineSize = 32;
const lineHeight = 48;
/** Maximum number of drawn characters of a text. More characters do not fit, even at the smallest size. */
const charsMax = 160;

/** Draws a card with texts on the left, a thumbnail on the right, and this service's name below. */
export async function drawCard({ head, title, lines, network, thumbnail }: CardOrder): Promise<Drawing> {
  try {
    const room = width - 2 * margin - (thumbnail === null ? 0 : edge + margin);
    const layers: OverlayOptions[] = [
      at(margin, margin, await drawn(head, { size: lineSize, colour: colours.accent, room })),
    ];
    const top = margin + 60;
    const named = await fitting(title, room);
    layers.push(at(margin, top, named.picture));
    const below = top + Math.min(named.height, titleHeight) + 24;
    for (const [index, line] of lines.entries()) {
      const text = await drawn(line, { size: lineSize, colour: colours.faint, room, most: lineHeight });
      layers.push(at(margin, below + index * lineHeight, text));
    }
    const foot = height - margin - iconEdge;
    layers.push(
      at(margin, foot, await sharp(icon).resize(iconEdge, iconEdge).png().toBuffer()),
      at(
        margin + iconEdge + 18,
        foot + 8,
        await drawn(`Satscribe · ${network}`, { size: 34, colour: colours.ink, room }),
      ),
    );
    if (thumbnail !== null) {
      const art = await sharp(thumbnail)
        .resize(edge, edge, { fit: 'contain', background: colours.paper })
        .png()
        .toBuffer();
      layers.push(at(width - margin - edge, (height - edge) / 2, art));
    }
    const picture = await sharp({ create: { width, height, channels: 3, background: colours.paper } })
      .composite(layers)
      .png({ palette: true, effort: 3 })
      .toBuffer();
    return { kind: 'picture', picture };
  } catch {
    // the library cannot draw this text, so the link is shown without a picture
    return { kind: 'none' };
  }
}

const at = (left: number, top: number, input: Buffer): OverlayOptions => ({
  input,
  left: Math.round(left),
  top: Math.round(top),
});

interface Drawn {
  readonly picture: Buffer;
  readonly height: number;
}

interface Style {
  /** Font size in pixels. */
  readonly size: number;
  readonly colour: string;
  /** Available width for the text, in pixels. */
  readonly room: number;
  /** Maximum height in pixels. If absent, the height of a title is used. */
  readonly most?: number;
}

async function fitting(title: string, room: number): Promise<Drawn> {
  let last: Drawn | null = null;
  for (const size of titleSizes) {
    last = await measured(title, { size, colour: colours.ink, room });
    if (last.height <= titleHeight) return last;
  }
  return last ?? measured(title, { size: titleSizes[0], colour: colours.ink, room });
}

const drawn = async (text: string, style: Style): Promise<Buffer> => (await measured(text, style)).picture;

/**
 * Draws a text within its width and height. The rest is cut off, because marks above and below letters may have any
 * height.
 */
async function measured(text: string, { size, colour, room, most = titleHeight }: Style): Promise<Drawn> {
  const { data, info } = await sharp({
    text: {
      text: `<span foreground="${colour}">${markupOf(text)}</span>`,
      font: `Satscribe Serif Bold ${size}`,
      fontfile,
      // at 72 dpi a point equals a pixel
      dpi: 72,
      width: room,
      rgba: true,
      wrap: 'word-char',
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true });
  if (info.height <= most && info.width <= room) return { picture: data, height: info.height };
  const cut = { left: 0, top: 0, width: Math.min(info.width, room), height: Math.min(info.height, most) };
  return { picture: await sharp(data).extract(cut).png().toBuffer(), height: info.height };
}

/** A text in Pango's markup: one line, without control characters, and with all markup escaped. */
function markupOf(text: string): string {
  const characters = Array.from(
    text
      .toWellFormed()
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
  );
  const shown = characters.length > charsMax ? [...characters.slice(0, charsMax - 1), '…'] : characters;
  // for an empty text draw a dash, because the library refuses a text without a size
  if (shown.length === 0) return '—';
  return shown.map((character) => entities[character] ?? character).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
