import { type Attack, get, pick, type Scenario } from '#test/attack/scenario.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';

const randomWord = ({ random }: Attack, length: number): string =>
  Array.from({ length }, () => letters[random.below(letters.length)]).join('');

const searchOf = (text: string, more = ''): Uint8Array =>
  get(`/search?text=${encodeURIComponent(text)}${more}`);

/** Texts that would do harm if a service used them as patterns or in comparisons. */
const patternLike = [
  '(a+)+$',
  `${'a'.repeat(900)}b`,
  '%_'.repeat(400),
  '.*'.repeat(400),
  '\\'.repeat(900),
  '"'.repeat(900),
  '\u0130'.repeat(300),
  '[[:alpha:]]{1,255}'.repeat(50),
];

/** Attacks with searches that cost more than their URL shows. */
export const searchScenarios: readonly Scenario[] = [
  {
    name: 'needle-blanks',
    what: 'needles of two letters with 30,000 blanks in between, by five clients',
    run: (attack) =>
      attack.loops(5, async () => attack.exchange(get(`/search?text=x${'+'.repeat(30_000)}x`))),
  },
  {
    name: 'needles-32',
    what: '32 needles of up to 900 characters, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const needles = Array.from({ length: 32 }, () => randomWord(attack, 1 + attack.random.below(900)));
        await attack.exchange(searchOf(needles.join(',')));
      }),
  },
  {
    name: 'needles-short',
    what: 'needles of one and two letters that nearly all texts have, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const needles = Array.from({ length: 8 }, () => randomWord(attack, 1 + attack.random.below(2)));
        await attack.exchange(searchOf(needles.join(','), '&itemsPerPage=1000'));
      }),
  },
  {
    name: 'needles-patterns',
    what: 'needles that look like patterns, or almost occur a million times, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => attack.exchange(searchOf(pick(attack, patternLike), '&phrase=1'))),
  },
  {
    name: 'fuzzy',
    what: 'fuzzy searches for 60 words, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const words = Array.from({ length: 60 }, () => randomWord(attack, 3 + attack.random.below(8)));
        await attack.exchange(searchOf(words.join(' '), '&fuzzy=1'));
      }),
  },
  {
    name: 'titles-traits',
    what: 'searches for titles and traits of large galleries, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const number = attack.random.below(20);
        const filter = pick(attack, [`title=number+${number}`, `trait=Hurts%3Anumber+${number}`]);
        const path = pick(attack, ['/search?text=gallery&', '/indexer/metadata?']);
        await attack.exchange(get(`${path}${filter}`));
      }),
  },
  {
    name: 'gallery-filter',
    what: 'searches for the galleries that have an inscription, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/indexer/metadata?gallery=${pick(attack, attack.targets.ordinary)}`)),
      ),
  },
  {
    name: 'pages-deep',
    what: 'the deepest pages of the commonest texts, in every order, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const page = pick(attack, [2_147_483_647, 1 + attack.random.below(1000)]);
        const sort = pick(attack, ['height', 'number', 'length']);
        await attack.exchange(searchOf('e', `&page=${page}&sort=${sort}&order=desc`));
      }),
  },
  {
    name: 'answers-large',
    what: 'searches whose answers have 8 MB, with and without highlights, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(
          searchOf('hurtful', pick(attack, ['&itemsPerPage=1000', '&itemsPerPage=100&highlight=1'])),
        ),
      ),
  },
  {
    name: 'facets',
    what: 'counts of the matches of common letters, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/search/facets?text=${encodeURIComponent(randomWord(attack, 1))}`)),
      ),
  },
  {
    name: 'suggestions',
    what: 'completions of random beginnings, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () =>
        attack.exchange(get(`/search/suggest?text=${randomWord(attack, 1 + attack.random.below(3))}`)),
      ),
  },
  {
    name: 'searches-aborted',
    what: 'common searches, reset after some milliseconds, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () =>
        attack.exchange(searchOf(randomWord(attack, 2), '&itemsPerPage=1000'), {
          abortAfterMs: attack.random.below(20),
        }),
      ),
  },
  {
    name: 'search-pages',
    what: 'pages of searches with their counts, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/?text=${randomWord(attack, 2)}`, { accept: 'text/html' })),
      ),
  },
];
