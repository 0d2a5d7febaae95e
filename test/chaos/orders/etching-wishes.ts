import type { Random } from '#test/builders/random.ts';
import { fileOf, type OrderWish, runeWish } from './order-wishes.ts';

/** Number of letters of a name. It is enough for any height of regtest. */
const letters = 14;

/** The name that an order etches. No other order of the run etches this name. */
function nameOf(number: number): string {
  let name = 'ETCHED';
  for (let rest = number; name.length < letters; rest = Math.floor(rest / 26))
    name += String.fromCharCode(65 + (rest % 26));
  return name;
}

/** The request for an etching, with a premine and perhaps with a file. */
export function etchingWishOf(random: Random, seed: string, number: number): OrderWish {
  const contents = random.unit() < 0.5 ? [`${seed} ${number} 0`] : [];
  return runeWish(random, number, {
    kind: 'etching',
    path: '/runes/etch',
    contents,
    body: {
      rune: nameOf(number),
      premine: 1 + random.below(1000),
      divisibility: random.below(30),
      turbo: random.unit() < 0.5,
      ...(contents.length === 0 ? {} : { files: contents.map(fileOf) }),
    },
    rune: nameOf(number),
  });
}
