import type { Random } from './random.ts';

export const textKinds = ['brc-20', 'name', 'prose', 'markup'] as const;
export type TextKind = (typeof textKinds)[number];

/** Share of each kind. Half of the texts are BRC-20, so a needle such as `brc-20` matches half of all texts. */
const kindShares: Record<TextKind, number> = { 'brc-20': 0.5, name: 0.25, prose: 0.17, markup: 0.08 };

export interface Text {
  readonly kind: TextKind;
  readonly contentType: Uint8Array;
  readonly body: Uint8Array;
}

const plain = Buffer.from('text/plain;charset=utf-8');
const json = Buffer.from('application/json');
const html = Buffer.from('text/html;charset=utf-8');
const svg = Buffer.from('image/svg+xml');

const words =
  `the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not
what all were we when your can said there use an each which she do how their if will up other about out many then them
these so some her would make like him into time has look two more write go see number no way could people my than first
water been call who oil its now find long down day did get come made may part over new sound take only little work know
place year live me back give most very after thing our just name good sentence man think say great where help through
much before line right too mean old any same tell boy follow came want show also around form three small set put end
does another well large must big even such because turn here why ask went men read need land different home us move try
kind hand picture again change off play spell air away animal house point page letter mother answer found study still
learn should world satoshi inscribed forever ordinal genesis bitcoin block stone art pixel Straße ÉLAN Привет мир 创世 比特币 🟧 🎨 👋`.split(
    /\s+/,
  );
const letters = 'abcdefghijklmnopqrstuvwxyz';

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}

function tick(random: Random): string {
  // some ticks are more popular, because the product of two draws favours the first ticks
  const index = Math.floor(random.unit() * random.unit() * 26 ** 3);
  const at = (place: number): string => letters[Math.floor(index / 26 ** place) % 26] as string;
  return `${at(2)}${at(0)}${at(1)}${at(2)}`;
}

function brc20(random: Random): [Uint8Array, string] {
  const name = tick(random);
  const amount = 1 + random.below(10 ** (1 + random.below(9)));
  const way = random.unit();
  if (way < 0.05) {
    return [
      plain,
      `{"p":"brc-20","op":"deploy","tick":"${name}","max":"${amount * 1000}","lim":"${amount}"}`,
    ];
  }
  const operation = way < 0.5 ? 'mint' : 'transfer';
  if (way > 0.9)
    return [
      json,
      `{ \n  "p": "brc-20",\n  "op": "${operation}",\n  "tick": "${name}",\n  "amt": "${amount}"\n}`,
    ];
  return [plain, `{"p":"brc-20","op":"${operation}","tick":"${name}","amt":"${amount}"}`];
}

function label(random: Random): [Uint8Array, string] {
  const way = random.unit();
  if (way < 0.5) return [plain, `${random.below(2_000_000)}.bitmap`];
  let name = '';
  for (let length = 3 + random.below(9); length > 0; length--) name += letters[random.below(26)] as string;
  if (way < 0.9) return [plain, `${name}.${pick(random, ['sats', 'btc', 'unisat', 'x', 'ord'])}`];
  return [plain, `{"p":"sns","op":"reg","name":"${name}.sats"}`];
}

function sentence(random: Random, least: number, most: number): string {
  const chosen: string[] = [];
  for (let count = least + random.below(most - least); count > 0; count--) chosen.push(pick(random, words));
  const text = chosen.join(' ');
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${pick(random, ['.', '!', '?', ' …'])}`;
}

function prose(random: Random): [Uint8Array, string] {
  let text = sentence(random, 4, 14);
  while (random.unit() < 0.6) text += ` ${sentence(random, 4, 18)}`;
  return [plain, text];
}

function markup(random: Random): [Uint8Array, string] {
  const color = `#${random
    .below(1 << 24)
    .toString(16)
    .padStart(6, '0')}`;
  if (random.unit() < 0.5) {
    const shapes: string[] = [];
    for (let count = 1 + random.below(5); count > 0; count--) {
      shapes.push(
        `<rect x="${random.below(24)}" y="${random.below(24)}" width="${1 + random.below(9)}" height="1" fill="${color}"/>`,
      );
    }
    return [svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${shapes.join('')}</svg>`];
  }
  const title = sentence(random, 2, 5);
  return [
    html,
    `<!DOCTYPE html><html><head><title>${title}</title></head><body style="background:${color}"><p>${sentence(random, 4, 20)}</p></body></html>`,
  ];
}

const makers: Record<TextKind, (random: Random) => [Uint8Array, string]> = {
  'brc-20': brc20,
  name: label,
  prose,
  markup,
};

/** Texts like those of mainnet. The first text of each kind is new, and copies repeat earlier texts. */
export class TextSource {
  readonly distinct: Text[] = [];
  readonly #random: Random;
  readonly #shareOfCopies: number;
  readonly #seen = new Set<string>();
  readonly #byKind: Record<TextKind, Text[]> = { 'brc-20': [], name: [], prose: [], markup: [] };

  constructor(random: Random, shareOfCopies: number) {
    this.#random = random;
    this.#shareOfCopies = shareOfCopies;
  }

  /** A new text. */
  fresh(): Text {
    const kind = this.#kind();
    for (;;) {
      const [contentType, text] = makers[kind](this.#random);
      if (this.#seen.has(text)) continue;
      this.#seen.add(text);
      const made = { kind, contentType, body: Buffer.from(text) };
      this.#byKind[kind].push(made);
      this.distinct.push(made);
      return made;
    }
  }

  /** A new text or a copy, by the share of copies. A copy needs an earlier text. */
  next(): Text {
    if (this.#random.unit() >= this.#shareOfCopies) return this.fresh();
    const earlier = this.#byKind[this.#kind()];
    if (earlier.length === 0) return this.fresh();
    // few texts have most copies: half of the copies favour the oldest texts, and half favour the newest texts
    const place = Math.floor(earlier.length * this.#random.unit() ** 3);
    return earlier[this.#random.u32() % 2 === 0 ? place : earlier.length - 1 - place] as Text;
  }

  #kind(): TextKind {
    let rest = this.#random.unit();
    for (const kind of textKinds) {
      rest -= kindShares[kind];
      if (rest < 0) return kind;
    }
    return 'brc-20';
  }
}
