import { crc32, deflateSync } from 'node:zlib';
import { type Random, seededRandom } from '#test/builders/random.ts';

/** A trait of an item, as most collections write it. */
export interface Trait {
  readonly trait_type: string;
  readonly value: string;
}

export interface Artwork {
  readonly body: Buffer | string;
  readonly traits: readonly Trait[];
}

const skies = {
  Dusk: ['#2b1b4d', '#f2765a'],
  Dawn: ['#13315c', '#f6c177'],
  Mist: ['#3b4252', '#a3b8c2'],
  Night: ['#05070f', '#1f2a5a'],
  Meadow: ['#0f3d3e', '#9fd89f'],
} as const;
const planets = {
  Amber: '#ffb454',
  Coral: '#ff7b72',
  Ice: '#b8e3ff',
  Moss: '#a6c36f',
  Pearl: '#f4efe6',
} as const;
const moons = ['None', 'One', 'Two', 'Three'] as const;

/** A planet with rings and moons, drawn as SVG. */
export function orbit(number: number): Artwork {
  const random = seededRandom(`orbit ${number}`);
  const sky = drawn(random, Object.keys(skies) as (keyof typeof skies)[]);
  const planet = drawn(random, Object.keys(planets) as (keyof typeof planets)[]);
  const rings = random.below(4);
  const moonCount = random.below(moons.length);
  const tilt = random.below(70) - 35;
  const radius = 52 + random.below(34);
  const [low, high] = skies[sky];
  const stars = Array.from({ length: 36 }, () => {
    const size = (5 + random.below(14)) / 10;
    return `<circle cx="${random.below(400)}" cy="${random.below(400)}" r="${size}" fill="#fff" opacity=".${3 + random.below(6)}"/>`;
  });
  const ellipses = Array.from({ length: rings }, (_, at) => {
    const reach = radius + 34 + at * 22;
    return `<ellipse rx="${reach}" ry="${Math.round(reach * 0.26)}" fill="none" stroke="#fff" stroke-opacity=".${7 - at}" stroke-width="${4 - at}"/>`;
  });
  const circles = Array.from({ length: moonCount }, (_, at) => {
    const turn = (random.below(360) * Math.PI) / 180;
    const reach = radius + 48 + at * 26;
    return `<circle cx="${Math.round(Math.cos(turn) * reach)}" cy="${Math.round(Math.sin(turn) * reach * 0.8)}" r="${7 + random.below(8)}" fill="#fff" opacity=".85"/>`;
  });
  const body = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400"><defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="${low}"/><stop offset="1" stop-color="${high}"/></linearGradient><radialGradient id="p" cx=".35" cy=".3"><stop stop-color="#fff"/><stop offset=".35" stop-color="${planets[planet]}"/><stop offset="1" stop-color="${low}"/></radialGradient></defs><rect width="400" height="400" fill="url(#s)"/>${stars.join('')}<g transform="translate(200 200) rotate(${tilt})"><circle r="${radius}" fill="url(#p)"/>${ellipses.join('')}${circles.join('')}</g></svg>`;
  const traits = [
    { trait_type: 'Sky', value: sky },
    { trait_type: 'Planet', value: planet },
    { trait_type: 'Rings', value: String(rings) },
    { trait_type: 'Moons', value: moons[moonCount] ?? 'None' },
  ];
  return { body, traits };
}

/** The cover picture of the orbits. Its inscription is their parent. */
export const orbitsCover = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"><rect width="400" height="400" fill="#0b1026"/><g fill="none" stroke="#f2b880">${Array.from({ length: 9 }, (_, at) => `<ellipse cx="200" cy="200" rx="${40 + at * 18}" ry="${14 + at * 7}" transform="rotate(${at * 20} 200 200)" stroke-opacity=".${9 - at}"/>`).join('')}</g><circle cx="200" cy="200" r="26" fill="#ffd9a0"/><text x="200" y="376" font-family="Georgia,serif" font-size="30" fill="#ffd9a0" text-anchor="middle" letter-spacing="12">ORBITS</text></svg>`;

const wings = {
  Lime: [190, 226, 92],
  Rose: [236, 122, 148],
  Sky: [110, 182, 240],
  Sand: [226, 196, 138],
  Violet: [160, 124, 226],
} as const;
const grounds = { Ink: [24, 26, 38], Paper: [240, 234, 220], Forest: [26, 58, 46] } as const;
const patterns = ['Plain', 'Banded', 'Spotted'] as const;
/** Which cells of a wing are darker, by the distance from the body and the row. */
const isMarked: Readonly<Record<(typeof patterns)[number], (from: number, y: number) => boolean>> = {
  Plain: () => false,
  Banded: (from) => from % 3 === 2,
  Spotted: (from, y) => (from * 7 + y * 5) % 11 === 0,
};
const brown = [70, 52, 44] as const;
type Colour = readonly [number, number, number];

/** A moth of 24 by 24 pixels, drawn large, as PNG. */
export function moth(number: number): Artwork {
  const random = seededRandom(`moth ${number}`);
  const wing = drawn(random, Object.keys(wings) as (keyof typeof wings)[]);
  const ground = drawn(random, Object.keys(grounds) as (keyof typeof grounds)[]);
  const pattern = drawn(random, patterns);
  const half = Array.from({ length: 24 }, (_, y) => {
    const span =
      y < 4 || y > 20 ? 0 : Math.round(10 - Math.abs(y - (y < 13 ? 9 : 16)) * (y < 13 ? 1.2 : 1.8));
    return span;
  });
  const wingAt = (from: number, y: number): Colour => {
    const [red, green, blue] = wings[wing];
    const isDark = isMarked[pattern](from, y);
    return isDark ? [red >> 1, green >> 1, blue >> 1] : [red, green, blue];
  };
  const colourAt = (x: number, y: number): Colour => {
    const from = x < 12 ? 11 - x : x - 12;
    const isBody = from === 0 && y > 5 && y < 20;
    const isFeeler = from === y - 1 && y < 6 && from < 4;
    if (isBody || isFeeler) return brown;
    return from >= (half[y] ?? 0) ? grounds[ground] : wingAt(from, y);
  };
  const traits = [
    { trait_type: 'Wings', value: wing },
    { trait_type: 'Ground', value: ground },
    { trait_type: 'Pattern', value: pattern },
  ];
  return { body: png(24, 10, colourAt), traits };
}

const pngWord = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  return Buffer.concat([pngWord(data.length), named, pngWord(crc32(named))]);
}

/** A square picture of cells. Each cell is a square of `scale` pixels. */
function png(cells: number, scale: number, colourAt: (x: number, y: number) => Colour): Buffer {
  const side = cells * scale;
  const rows = Array.from({ length: side }, (_, y) =>
    Buffer.from([
      0,
      ...Array.from({ length: side }, (_pixel, x) =>
        colourAt(Math.floor(x / scale), Math.floor(y / scale)),
      ).flat(),
    ]),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', Buffer.concat([pngWord(side), pngWord(side), Buffer.from([8, 2, 0, 0, 0])])),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A tune of eight notes as WAV: 8 bits, 8,000 samples per second. */
export function tune(): Buffer {
  const rate = 8000;
  const notes = [262, 330, 392, 523, 440, 392, 330, 294];
  const length = Math.floor(rate * 0.22);
  const samples = Buffer.alloc(notes.length * length);
  for (const [at, hertz] of notes.entries())
    for (let index = 0; index < length; index++) {
      const fading = 1 - index / length;
      samples[at * length + index] =
        128 + Math.round(60 * fading * Math.sin((2 * Math.PI * hertz * index) / rate));
    }
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

const drawn = <Value>(random: Random, values: readonly Value[]): Value => {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new Error('nothing to draw from');
  return value;
};
