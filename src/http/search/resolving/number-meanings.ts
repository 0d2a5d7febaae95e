import type { ClientBase } from 'pg';
import { type BlockFacts, blockAt } from '#chain/blocks/block.queries.ts';
import { inscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { satName, satStanding } from '#kernel/sats/notation.ts';
import type { Sat } from '#kernel/sats/sat.ts';
import { grouped, plural, timeWords } from '#web/format.ts';
import { inscriptionMeaning } from './inscription-meanings.ts';
import type { Detail, Meaning } from './meaning.ts';
import type { SatForm } from './notations.ts';

/**
 * The inscription with a number. A number with `#` is certain, because only inscription numbers are written like that.
 */
export async function inscriptionNumberMeanings(
  client: ClientBase,
  number: number | null,
  isMarked: boolean,
  detail: Detail,
): Promise<Meaning[]> {
  const found = number === null ? null : await inscriptionName(client, { kind: 'number', number });
  if (found === null) return [];
  const certainty = isMarked ? 'certain' : 'likely';
  return [await inscriptionMeaning(client, found, { why: 'has this number', certainty, detail })];
}

/** The indexed block at a height. */
export async function heightMeanings(client: ClientBase, height: Height | null): Promise<Meaning[]> {
  const block = height === null ? null : await blockAt(client, { kind: 'height', height });
  return block === null ? [] : [blockMeaning(block, 'has this height', 'likely')];
}

export const blockMeaning = (
  { height, time, txCount, inscriptionCount }: BlockFacts,
  why: string,
  certainty: Meaning['certainty'],
): Meaning => ({
  kind: 'block',
  label: `Block ${grouped(height)}`,
  path: `/block/${height}`,
  why,
  facts: [timeWords(time), plural(txCount, 'transaction'), plural(inscriptionCount, 'inscription')],
  art: null,
  certainty,
});

const whySat: Readonly<Record<SatForm, string>> = {
  number: 'has this number',
  name: 'has this name',
  degree: 'has this degree',
  decimal: 'is its decimal: a block, and the place in it',
  percentile: 'is at this percentage of all sats',
};

/** A number above all heights and above all inscription numbers. Larger numbers almost always mean a sat. */
const hardlyOther = 2 ** 31;

/**
 * The meaning of a text as a sat. Every valid notation names an existing sat. So a name or a small number is only
 * `possible`, because any short word in lower case is such a name, and small numbers more often mean something else.
 */
export function satMeaning(form: SatForm, sat: Sat): Meaning {
  const { height, rarity } = satStanding(sat);
  const isPossible = form === 'name' || (form === 'number' && sat < hardlyOther);
  return {
    kind: 'sat',
    label: form === 'name' ? satName(sat) : `Sat ${grouped(sat)}`,
    path: `/sat/${sat}`,
    why: whySat[form],
    facts: [
      rarity,
      `of the subsidy of block ${grouped(height)}`,
      ...(form === 'name' ? [`number ${grouped(sat)}`] : []),
    ],
    art: null,
    certainty: form === 'degree' ? 'certain' : isPossible ? 'possible' : 'likely',
  };
}
