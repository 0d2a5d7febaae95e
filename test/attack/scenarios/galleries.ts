import { type Attack, get, json, pick, type Scenario } from '#test/attack/scenario.ts';

const galleryOf = (attack: Attack): string => pick(attack, attack.targets.galleries);

/** Attacks with galleries that have 134 kB on chain and 14 MB of JSON. */
export const galleryScenarios: readonly Scenario[] = [
  {
    name: 'gallery-items',
    what: 'single items of large galleries, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/gallery/${galleryOf(attack)}/${attack.random.below(100_000)}`, json)),
      ),
  },
  {
    name: 'gallery-aborted',
    what: 'ten requests a second for large galleries, reset at once',
    run: (attack) =>
      attack.loops(1, async () => {
        const paths = [`/gallery/${galleryOf(attack)}/0`, `/r/inscription/${galleryOf(attack)}`];
        await attack.exchange(get(pick(attack, paths), json), { abortAfterMs: 1 });
        await attack.pause(100);
      }),
  },
  {
    name: 'gallery-pages',
    what: 'pages of large galleries, the last ones too, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/gallery/${galleryOf(attack)}/page/${attack.random.below(1300)}`, json)),
      ),
  },
  {
    name: 'gallery-recursive',
    what: 'recursive answers about large galleries, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => attack.exchange(get(`/r/inscription/${galleryOf(attack)}`))),
  },
  {
    name: 'gallery-whole',
    what: 'whole large galleries as JSON and as pages, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const headers = pick(attack, [json, { accept: 'text/html' }]);
        await attack.exchange(get(`/inscription/${galleryOf(attack)}`, headers));
      }),
  },
];
